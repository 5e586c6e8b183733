"""What the panel asks, and what it is answered: JSON objects, one a line, over the pipes of a process of its own.

The panel runs in a host's Python (3.9 and later, Qt, nothing else). What needs numpy, OpenImageIO, a farm's library or
time is asked of `python -m understudy_ui.answers` in the studio's Python, so a host never waits for it, and never falls
with it.

    panel:    {"id": 3, "ask": "check", "about": {...}}
    answers:  {"id": 3, "told": "3 of 48 frames"}                      as often as there is something to tell
    answers:  {"id": 3, "answer": {...}}  or  {"id": 3, "faults": ["one line for a person", ...]}
    panel:    {"id": 4, "ask": "give up", "about": {"id": 3}}          3 then ends with no faults, or is done already

Answers come in any order. The process ends when its stdin does. Words are those of the command line: a training is
described by what would follow `understudy submit`, so the panel, the command line and a script plan the same bytes.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, TypedDict, Union

Json = Union[None, bool, int, float, str, List["Json"], Mapping[str, "Json"]]

GIVE_UP = "give up"


class Question(TypedDict):
    """One line to the answers."""

    id: int
    ask: str
    about: Mapping[str, Json]


class Field(TypedDict):
    """ask "fields", about {}: list of Field. Everything that a submission may choose, in the order of the form."""

    name: str
    """As in presets: crop_size."""
    flag: str
    """--crop-size"""
    label: str
    """CopyCat's own word where it has one: Crop Size."""
    doc: str
    """The tooltip."""
    group: str
    """knobs (CopyCat's), training (further settings), farm, or result (apply and publish)."""
    kind: str
    """flag (yes or no), whole, number, text, word (one of `choices`), path, words (several, by commas)."""
    default: Json
    choices: List[str]
    """Of a word; or suggestions for a text."""
    low: Union[float, None]
    high: Union[float, None]
    unit: str


class TrainingNode(TypedDict):
    """ask "nodes", about {"script": PATH}: list of TrainingNode. Those that a script has."""

    name: str
    """What -X takes."""
    kind: str
    """CopyCat or Understudy."""


class Side(TypedDict):
    """One side of a pair: what a thumbnail is asked for by."""

    label: str
    """How messages call it."""
    path: str
    layer: str


class PairShown(TypedDict):
    frame: int
    use: str
    """train or validation."""
    input: Side
    target: Side


class SourceShown(TypedDict):
    """ask "source", about {"words": WORDS}: what the words name, undecoded; quick."""

    title: str
    """The node, or the sequence."""
    knobs: Dict[str, Json]
    """Fields that the node's knobs say otherwise than their defaults."""
    pairs: List[PairShown]
    data_directory: str
    """Absolute."""
    frames_of_input: List[int]
    """Of the whole shot, where the input is a sequence on disk; else empty."""
    input_pattern: str
    """plate.####.exr of that sequence; else empty."""


class Problem(TypedDict):
    frame: Union[int, None]
    """Which pair it concerns; None: all of them."""
    line: str


class CheckShown(TypedDict):
    """ask "check", about {"words": WORDS}: every pair decoded as training would; tells how far it is."""

    problems: List[Problem]
    remarks: List[str]


class Thumbnail(TypedDict):
    """ask "thumbnail", about {"words": WORDS, "frame": F, "side": "input"|"target", "width": W, "height": H}.

    Fitted into W x H, through the display of the colour rules.
    """

    path: str
    """A PNG in the answers' own temporary folder, which goes with the process."""
    width: int
    height: int


class EstimateShown(TypedDict):
    """ask "estimate", about {"words": WORDS}: before anything is sent."""

    num_pairs: int
    total_steps: int
    """0: by the clock (minutes)."""
    seconds: Union[float, None]
    """From the newest run on this kind of device, or None when nobody knows."""
    memory_gib: Union[float, None]
    """Of the frames, on each machine; None: a bake is to make them."""
    disk_mib: float
    """Of checkpoints and reports, at most."""
    certainty: str
    """Of total_steps: exactly; or, where the machine that trains chooses the batch, about (as it was in the newest run
    of this kind), or at most (nobody knows; it has a crop for every rank)."""


class PreviewShown(TypedDict):
    """ask "preview", about {"words": WORDS}: what would be sent (dry run)."""

    command: str
    """The same on the command line."""
    run_directory: str
    files: Dict[str, str]
    """Name to text; job.json first."""
    remarks: List[str]


class SentShown(TypedDict):
    """ask "submit", about {"words": WORDS}: tells what it does."""

    run_directory: str
    farm: str
    link: str


class FarmShown(TypedDict):
    """ask "farms", about {}: list of FarmShown, those that can be loaded."""

    name: str
    doc: str
    options: List[Field]
    """What only this farm can be told; flag is `-O NAME=`."""


class FarmNames(TypedDict):
    """ask "farm names", about {"words": WORDS}: what a live farm knows by name; empty lists where it cannot say."""

    pool: List[str]
    group: List[str]
    limits: List[str]
    machines: List[str]


class RunRow(TypedDict):
    """ask "runs", about {"folder": DATA_DIRECTORY}: list of RunRow, newest first. Reads no whole metrics file."""

    place: str
    """The run's record: names it in every other question."""
    name: str
    version: str
    """v003, or empty for a run that was not submitted."""
    state: str
    """submitted, training, finished, stopped, failed, or lost (says training, but nobody writes any more)."""
    step: int
    total_steps: int
    minutes: float
    """That it may train; 0: only its steps count."""
    loss: Union[float, None]
    started: str
    """ISO 8601 with zone."""
    seconds_left: Union[float, None]
    farm: str
    """Empty: not submitted."""
    fault: str
    """What is wrong with its files, in one line; else empty."""


class RankShown(TypedDict):
    number: int
    state: str
    """waiting, running, joining, lost, done, failed, cancelled, unknown."""
    host: str
    note: str


class RunShown(TypedDict):
    """ask "run", about {"place": PLACE}: one run in full."""

    row: RunRow
    ranks: List[RankShown]
    tasks: List[RankShown]
    """Of the steps after training, `host` preceded by the step's name in `note`."""
    link: str
    checkpoints: List[int]
    models: List[str]
    """Model files of `checkpoints`, in that order."""
    best_step: int
    """0: none."""
    best_psnr: Union[float, None]
    """dB, the highest validation so far; None while nothing was validated."""
    is_settled: bool
    """It hardly rose in the last third of the training time."""
    good_enough_seconds: Union[float, None]
    """Of training, after which validation stayed near its highest; None while that cannot be said."""
    sheets: List[int]
    """Steps of which there is a contact sheet."""
    pairs: List[PairShown]
    settings: Dict[str, Json]
    command: str


class CurveShown(TypedDict):
    """ask "curve", about {"place", "num_points", "smoothness", "first", "last"}: loss as it is drawn.

    At most num_points columns, whatever the length of the run: of each column lowest and highest loss, so no spike is
    lost, and the smoothed value. first and last bound the steps; 0: from the beginning, to the end.
    """

    steps: List[int]
    lowest: List[float]
    highest: List[float]
    smooth: List[float]
    validation_steps: List[int]
    validation_psnrs: List[float]
    stages: List[int]
    """Steps at which a higher resolution begins, first among them: where the run, or the asked part of it, begins."""
    stage_names: List[str]
    """Of `stages`, in that order: 1/4, 1/2, full."""
    events: List[str]
    """`step 812: rank 2 lost` and the like."""
    event_steps: List[int]


class LogShown(TypedDict):
    """ask "log", about {"place", "rank", "offset"}: whole lines from that byte on, at most 256 KiB."""

    text: str
    offset: int
    """Where to go on; smaller than asked for when the file began anew."""


class SheetShown(TypedDict):
    """ask "sheet", about {"place", "step"}."""

    path: str


class ViewShown(TypedDict):
    """ask "view", about {"place", "frame", "exposure", "gamma", "result"}: a frame's pictures through the display.

    Exposure in stops. Also "input", the plate's pattern: the frame is then one of that sequence, else as a pair is
    called; "width" and "height" (1920 and 1080 when left out), into which they are fitted.
    `result` is the pattern of an applied sequence, or empty for the contact of none. Pictures that there are not are
    empty paths.
    """

    input: str
    target: str
    result: str
    difference: str
    """Of result and target, four times as bright."""
    psnr: Union[float, None]
    """Decibels, of result against target."""


class Done(TypedDict):
    """ask "stop", "resume", "requeue" (about also "rank", None: all), "cancel", "trash" (about {"place"}), "rename"
    (also "name"): what came of it, in words."""

    said: str


class AppliedShown(TypedDict):
    """ask "apply", about {"place", "input", "output", "frames", "passes", "checkpoint"}: tells how far it is."""

    said: str
    frames: List[int]
    """Those that were made."""


class ProofShown(TypedDict):
    """One trial of an export beside the model."""

    by: str
    """The program that ran it: torch 2.13.0, half."""
    difference: float
    """Largest over all pixels, in scene-linear units up to 1, relative above."""
    sample: str
    """The picture in which it was."""


class ExportedShown(TypedDict):
    """ask "export", about {"place", "checkpoint", "to", "folder"}: tells what it does.

    `to` is nuke, flame, houdini, onnx or torch; an empty folder is the one beside the model.
    """

    said: str
    folder: str
    files: List[str]
    """In it."""
    samples: List[str]
    """Pictures on which it was held against the model."""
    proofs: List[ProofShown]
    remarks: List[str]
    """What a person should know about it."""


class SuggestionShown(TypedDict):
    """ask "suggest", about {"place", "input", "count"}: list of SuggestionShown, the frame to paint next first."""

    frame: int
    score: float
    why: str
