"""The panel: what a compositor touches, alone or inside a host."""
