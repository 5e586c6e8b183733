"""Back ends: one module for each farm. They translate and ask; planning is shared."""
