"""Where pairs come from: the flags, and the source that they choose."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.cli import options
from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.frames.colour import ColourRules
    from understudy.pairs import PairSource

_FOR_SEQUENCES = ("target", "frames", "input_layer", "target_layer", "input_colorspace", "target_colorspace")
_FOR_SCRIPTS = ("node", "remap", "dummy_frames")


@dataclass(frozen=True, kw_only=True)
class ChosenSource:
    """What the words about pairs came to."""

    source: PairSource
    colour: ColourRules
    settings: dict[str, object] = field(default_factory=dict)
    """What the node's knobs say; flags go over it."""
    dummy_frames: tuple[int, ...] = ()
    """Nuke's -F: one line is printed for each, as Nuke prints it."""
    outline: Callable[[], tuple[str, ...]] = tuple
    """The tree that will be evaluated, as lines of text; of sources without one, none."""


def add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", nargs="?", type=Path, metavar="SHOT.nk", help="Nuke script with a CopyCat node")
    nuke = parser.add_argument_group("from a Nuke script")
    nuke.add_argument("-X", dest="node", metavar="NODE", help="the CopyCat node; may be left out when there is one")
    nuke.add_argument("-F", dest="dummy_frames", metavar="FRAMES", help="as Nuke wants it; 1 for a training node")
    nuke.add_argument("--remap", metavar="FROM,TO,...", help="replace the beginnings of paths in the script")
    nuke.add_argument(
        "--cont", action="store_true", help="leave out pairs that cannot be read, with a warning for each"
    )
    sequences = parser.add_argument_group("from two sequences")
    sequences.add_argument("--input", metavar="PATTERN", help="plate.####.exr; %%04d, @@@@ and $F4 are understood too")
    sequences.add_argument("--target", metavar="PATTERN", help="the painted frames, numbered as the plate")
    sequences.add_argument("--frames", metavar="RANGE", help="1001,1013-1040x9; default: where a target exists")
    sequences.add_argument("--input-layer", metavar="LAYER", help="part, layer or channels of the input; default rgb")
    sequences.add_argument("--target-layer", metavar="LAYER", help="the same of the target")
    sequences.add_argument(
        "--input-colorspace", metavar="SPACE", help="OCIO space of the input files; raw: as they are"
    )
    sequences.add_argument("--target-colorspace", metavar="SPACE", help="the same of the target files")
    parser.add_argument("--timeline", type=Path, metavar="PAIRS.otio", help="input track and target track")
    parser.add_argument("--view", default="", metavar="VIEW", help="stereo view, such as left")
    parser.add_argument("--validation-frames", metavar="RANGE", help="pairs kept out of training and measured")


def build_source(arguments: argparse.Namespace) -> ChosenSource:
    """The one source that was named. Raises UnderstudyError when none or several were, or words do not go together."""
    kinds = {"a script": arguments.script, "--input": arguments.input, "--timeline": arguments.timeline}
    named = [kind for kind, value in kinds.items() if value]
    if len(named) != 1:
        wrong = "no pairs were named" if not named else f"{' and '.join(named)} exclude each other"
        raise UnderstudyError(f"{wrong}; give a Nuke script, or --input and --target, or --timeline")
    _refuse(arguments, named[0], () if named == ["--input"] else _FOR_SEQUENCES)
    _refuse(arguments, named[0], () if named == ["a script"] else _FOR_SCRIPTS)
    colour = options.colour_rules(arguments)
    validation_frames = options.frame_list(arguments.validation_frames)
    if arguments.script:
        return _from_script(arguments, colour, validation_frames)
    if arguments.timeline:
        return _from_timeline(arguments, colour, validation_frames)
    return _from_sequences(arguments, colour, validation_frames)


def _refuse(arguments: argparse.Namespace, kind: str, names: tuple[str, ...]) -> None:
    shown = {"node": "-X", "dummy_frames": "-F"}
    given = [shown.get(name, "--" + name.replace("_", "-")) for name in names if getattr(arguments, name)]
    if given:
        raise UnderstudyError(f"{', '.join(given)} cannot be used with {kind}; leave out one of them")


def _from_script(
    arguments: argparse.Namespace, colour: ColourRules, validation_frames: tuple[int, ...]
) -> ChosenSource:
    from understudy.sources.script import ScriptSource

    source = ScriptSource(
        script=arguments.script,
        node=arguments.node or "",
        remap=options.remap_rules(arguments.remap or ""),
        validation_frames=validation_frames,
        view=arguments.view,
        colour=colour,
    )
    frames = options.frame_list(arguments.dummy_frames)
    return ChosenSource(
        source=source,
        colour=colour,
        settings=source.knob_overrides(),
        dummy_frames=frames,
        outline=source.outline,
    )


def _from_timeline(
    arguments: argparse.Namespace, colour: ColourRules, validation_frames: tuple[int, ...]
) -> ChosenSource:
    from understudy.sources.timeline import TimelineSource

    source = TimelineSource(
        timeline=arguments.timeline, view=arguments.view, colour=colour, validation_frames=validation_frames
    )
    return ChosenSource(source=source, colour=colour)


def _from_sequences(
    arguments: argparse.Namespace, colour: ColourRules, validation_frames: tuple[int, ...]
) -> ChosenSource:
    from understudy.sources.sequences import SequenceSource

    if not arguments.target:
        raise UnderstudyError("--target is missing; give the pattern of the painted frames")
    source = SequenceSource(
        input=arguments.input,
        target=arguments.target,
        frames=options.frame_list(arguments.frames),
        input_layer=arguments.input_layer or "",
        target_layer=arguments.target_layer or "",
        view=arguments.view,
        input_colorspace=arguments.input_colorspace or "",
        target_colorspace=arguments.target_colorspace or "",
        validation_frames=validation_frames,
        colour=colour,
    )
    return ChosenSource(source=source, colour=colour)
