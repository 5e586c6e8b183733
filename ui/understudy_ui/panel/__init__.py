"""The panel: choose a shot, train it, watch it, take the result. It takes a host's Python and Qt, nothing else."""
