"""Frames: the only room that speaks to OpenImageIO for pixels."""
