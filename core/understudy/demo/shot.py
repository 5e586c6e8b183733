"""What the demo shot is: its size, its frames, which of them are painted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DemoShot:
    """A street corner at dusk. On one machine, equal shots give equal pixels."""

    width: int = 480
    """Pixels; the lens keeps its angle of view, so a smaller shot shows the same picture."""
    height: int = 270
    """Pixels."""
    first_frame: int = 1001
    last_frame: int = 1048
    """Inclusive."""
    painted_frames: tuple[int, ...] = (1001, 1013, 1025, 1037, 1048)
    """Frames of which the clean picture is given as ground truth."""
    seed: int = 7
    """Draws the textures, the handheld drift and the grain."""

    @property
    def frames(self) -> range:
        return range(self.first_frame, self.last_frame + 1)

    @property
    def unpainted_frames(self) -> tuple[int, ...]:
        """The frames on which a result is measured."""
        return tuple(frame for frame in self.frames if frame not in self.painted_frames)

    def progress(self, time_frames: float) -> float:
        """0 on the first frame, 1 on the last; a little outside while the shutter is open there."""
        return (time_frames - self.first_frame) / max(1, self.last_frame - self.first_frame)
