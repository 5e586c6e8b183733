"""Stands in for the folder of Thinkbox's that a studio copies to where Python looks."""
