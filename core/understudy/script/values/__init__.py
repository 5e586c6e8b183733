"""What a knob's text comes to at a frame: numbers, curves, expressions and links. Knows no node class."""
