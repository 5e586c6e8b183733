"""Nuke scripts without Nuke: text to words, words to a graph, the graph to pixels."""
