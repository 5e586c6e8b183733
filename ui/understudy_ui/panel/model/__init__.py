"""What the panel knows and decides, without Qt: forms, sources, runs, and what is asked when."""
