"""Sequences: file names with a frame number in them, and lists of frames."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fileseq.constants import PAD_STYLE_HASH1
from fileseq.exceptions import FileSeqException, MaxSizeException
from fileseq.filesequence import FileSequence
from fileseq.frameset import FrameSet

from understudy.errors import UnderstudyError, quoted

MAX_FRAMES = 100_000
"""A list of more frames than this is a typing error."""

_FRAME_TOKEN = re.compile(r"#+|@+|%0*\d{0,2}d|\$F\d{0,2}")


@dataclass(frozen=True)
class Sequence:
    """A file name whose last ####, @@@@, %04d or $F4 stands for the frame; without one, a still."""

    pattern: str
    """`#` repeated as often as there are digits, as in Nuke; longer numbers are taken too."""

    @cached_property
    def _token(self) -> re.Match[str] | None:
        """Where the frame number stands in the file's name."""
        return next(reversed(list(_FRAME_TOKEN.finditer(Path(self.pattern).name))), None)

    @property
    def is_still(self) -> bool:
        return self._token is None

    def path(self, frame: int) -> Path:
        """The file of `frame`; of a still, always the same."""
        whole = Path(self.pattern)
        if self._token is None:
            return whole
        digits = FileSequence.getPaddingNum(self._token.group(), pad_style=PAD_STYLE_HASH1)
        return whole.with_name(
            whole.name[: self._token.start()] + str(frame).zfill(digits) + whole.name[self._token.end() :]
        )

    def frames_on_disk(self) -> tuple[int, ...]:
        """Frames that have a file, ascending; of a still, none.

        Raises UnderstudyError when the folder cannot be looked into; an absent folder has no frames.
        """
        if self._token is None:
            return ()
        name = Path(self.pattern).name
        before, after = re.escape(name[: self._token.start()]), re.escape(name[self._token.end() :])
        numbered = re.compile(before + r"(-?\d+)" + after)
        found = (numbered.fullmatch(file_name) for file_name in self._names_in_folder())
        frames = (int(match.group(1)) for match in found if match)
        # 7, 07 and 0007 are the same number, but only one of them is a frame of this pattern
        return tuple(sorted({frame for frame in frames if not is_missing(self.path(frame))}))

    def _names_in_folder(self) -> list[str]:
        folder = Path(self.pattern).parent
        try:
            return [entry.name for entry in folder.iterdir()]
        except (FileNotFoundError, ValueError):  # a null byte is in no folder's name
            return []
        except OSError as error:
            raise UnderstudyError(f"{folder}: cannot be looked into ({error.strerror}); check the path") from error


def sequences_of(paths: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Patterns of the files, each with its frames; of a file without a number there are none."""
    found = FileSequence.yield_sequences_in_list(sorted(set(paths)), pad_style=PAD_STYLE_HASH1)
    return {
        sequence.format("{dirname}{basename}{padding}{extension}"): tuple(map(int, sequence.frameSet() or ()))
        for sequence in found
    }


def is_missing(path: Path) -> bool:
    """Whether there certainly is no such file; one that may not be looked at is left to the reader to report."""
    try:
        return not path.is_file()
    except OSError:
        return False


def parse_frames(text: str) -> tuple[int, ...]:
    """Frames of `1001,1013-1040x9`, ascending, each once; both ends count. Spaces separate like commas.

    Raises UnderstudyError when the text is no frame range or names more than MAX_FRAMES frames.
    """
    try:
        frames = FrameSet(re.sub(r"[\s,]+", ",", text.strip()).strip(","))
        if len(frames) > MAX_FRAMES:
            raise MaxSizeException("too many frames")
        whole = tuple(sorted({int(frame) for frame in frames if int(frame) == frame}))
    except MaxSizeException as error:
        raise UnderstudyError(f"frames {quoted(text)}: more than {MAX_FRAMES} frames; give a shorter range") from error
    except (FileSeqException, ValueError, ArithmeticError) as error:
        raise UnderstudyError(f"frames {quoted(text)}: not a frame range; write it like 1001,1013-1040x9") from error
    if not whole or len(whole) != len(frames):
        raise UnderstudyError(f"frames {quoted(text)}: not a list of whole frames; write it like 1001,1013-1040x9")
    return whole


def format_frames(frames: Iterable[int]) -> str:
    """The shortest usual way to write the frames: 1001,1013-1040x9. `parse_frames` reads it back."""
    return str(FrameSet.framesToFrameRange(sorted(set(frames))))
