"""Grain: new on every frame and channel, soft, and stronger in light than in shade as counted light is."""

from __future__ import annotations

import numpy as np

from understudy.demo.filters import blur, float32
from understudy.demo.shot import DemoShot
from understudy.frames.image import FloatPixels

FLOOR = 0.0022
"""Standard deviation in black."""
GAIN = 0.0007
"""Variance per unit of light."""
CHANNELS = (1.0, 0.85, 1.35)
"""Strength in red, green, blue."""


def grain(shot: DemoShot, frame: int, clean: FloatPixels) -> FloatPixels:
    """What to add to a clean H W 3 frame (and to the same frame with anything in front), H W 3."""
    rng = np.random.default_rng((shot.seed, 2, frame))
    field = rng.standard_normal(clean.shape, np.float32)
    soft = 0.8 * field / field.std() + 1.3 * blur(field, 0.85, 0.85) / 0.33
    soft /= soft.std()
    deviation = np.sqrt(FLOOR**2 + GAIN * np.clip(clean, 0, 2))
    return float32(soft * deviation * np.asarray(CHANNELS, np.float32))
