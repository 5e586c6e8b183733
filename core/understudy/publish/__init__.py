"""Publishing: a model as a numbered folder that a stranger can use, and what is told about it."""
