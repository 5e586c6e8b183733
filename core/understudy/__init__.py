"""understudy: train an image-to-image network on painted frames and give the whole shot back."""

from __future__ import annotations

import logging

__version__ = "0.1.0"

# the edge prints what went wrong; without a handler Python would print logged errors a second time
logging.getLogger(__name__).addHandler(logging.NullHandler())
