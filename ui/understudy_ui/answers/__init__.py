"""The answers: a process of the studio's Python that is asked by a panel over pipes. See protocol.py."""
