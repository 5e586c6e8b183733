"""Nuke reads this at every start, with a window and without. A fault is printed, and Nuke starts all the same."""

try:
    from understudy_nuke import startup

    startup.begin()
except BaseException:
    import traceback

    traceback.print_exc()
