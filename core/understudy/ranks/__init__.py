"""Ranks: the processes that train one model together, on one machine or on many; how they are told, started and met."""
