"""understudy in Blender's compositor: a panel that submits a training, shows it, and brings the result back.

What needs Blender is imported by `register` alone, so that the rest can be used and tested by any Python.
"""

bl_info = {
    "name": "Understudy",
    "author": "the understudy authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Compositor > Sidebar > Understudy",
    "description": "Train on a few painted frames and give the whole shot back",
    "category": "Compositing",
}


def register() -> None:
    from . import operators, panel, properties

    properties.register()
    operators.register()
    panel.register()


def unregister() -> None:
    from . import operators, panel, properties

    panel.unregister()
    operators.unregister()
    properties.unregister()
