"""The command line: the edge that builds settings from words and prints what went wrong."""
