"""The demo: a small shot made by code, with tracking markers and a wire to be painted out."""
