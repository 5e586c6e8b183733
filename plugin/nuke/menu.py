"""Nuke reads this when it starts with a window. A fault is printed, and Nuke starts all the same."""

try:
    from understudy_nuke import startup

    startup.add_menus()
    startup.add_panel()
except BaseException:
    import traceback

    traceback.print_exc()
