"""Models for other programs: Nuke, Flame, Houdini, anything that runs ONNX or torch, each proved against our own."""
