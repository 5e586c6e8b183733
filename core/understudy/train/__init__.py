"""The only room that imports torch: networks, training, applying. Imported lazily by the command line."""
