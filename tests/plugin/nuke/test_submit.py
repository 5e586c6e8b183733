"""Submission from Nuke: nothing waits, nothing raises, and whatever came of it is one line in Nuke's own window."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

import nuke
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy_nuke import actions, bake, studio

ANSWER = {"run_directory": "/runs/v001", "farm": "local", "ids": {}}
STUDIO = """#!{python}
import json, os, sys, time
json.dump([sys.argv[1:], dict(os.environ), open(sys.argv[-1]).read()], open({seen!r}, "w"))
for _ in range(3000):
    if os.path.exists({go!r}):
        break
    time.sleep(0.02)
else:
    sys.exit("nobody let it go")
sys.stderr.write({errors!r})
print({output!r})
sys.exit({code})
"""


class Studio:
    """A program in place of the studio's Python, and what it was started with."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder / "studio"
        self._folder.mkdir()
        self._monkeypatch = monkeypatch
        self.go = self._folder / "go"
        """The program ends when this file is there."""

    def answers(self, output: str = json.dumps(ANSWER), errors: str = "", code: int = 0, at_once: bool = True) -> None:
        if at_once:
            self.go.touch()
        program = self._folder / "python"
        seen = str(self._folder / "seen.json")
        about = {"output": output, "errors": errors, "code": code, "go": str(self.go)}
        program.write_text(STUDIO.format(python=sys.executable, seen=seen, **about))
        program.chmod(0o755)
        self._monkeypatch.setenv(studio.PYTHON_VARIABLE, str(program))

    def seen(self) -> tuple[list[str], dict[str, str], str]:
        words, environment, script = json.loads((self._folder / "seen.json").read_text())
        return words, environment, script


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Studio:
    return Studio(tmp_path, monkeypatch)


def test_nuke_never_stands_still(tmp_path: Path, desk: Desk, other: Studio) -> None:
    other.answers(at_once=False)
    scene(tmp_path)["epochs"].setValue(5)
    actions.train()
    assert not desk.messages, "the submission is still on its way"
    other.go.touch()
    assert desk.wait_for_message() == "CopyCat1 was submitted to local; the run is /runs/v001"


def test_a_saved_script_goes_as_it_is(tmp_path: Path, desk: Desk, other: Studio) -> None:
    other.answers()
    scene(tmp_path)
    desk.fields = {"Farm": "slurm", "Ranks": "2", "Further flags": "--name 'two words'"}
    actions.train()
    assert desk.wait_for_message() == "CopyCat1 was submitted to local; the run is /runs/v001"
    words, _, script = other.seen()
    assert words[:5] == ["-m", "understudy.cli.main", "submit", "--json", "-X"]
    where = ["--data-directory", f"{tmp_path}/runs", "--farm", "slurm", "--ranks", "2", "--name", "two words"]
    assert words[5:] == ["CopyCat1", *where, f"{tmp_path}/shot.nk"]
    assert script == (tmp_path / "shot.nk").read_text()


def test_a_changed_script_goes_as_a_copy_that_is_removed(tmp_path: Path, desk: Desk, other: Studio) -> None:
    other.answers()
    scene(tmp_path)["epochs"].setValue(5)
    actions.train()
    desk.wait_for_message()
    words, _, script = other.seen()
    assert Path(words[-1]).parent == tmp_path
    assert "epochs 5" in script
    assert not list(tmp_path.glob(".shot*"))
    assert nuke.root().modified()


def test_nothing_of_nukes_own_environment_goes_unless_it_is_wanted(
    tmp_path: Path, desk: Desk, other: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.answers()
    scene(tmp_path)
    own = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "OCIO", "DYLD_LIBRARY_PATH")
    for name in own:
        monkeypatch.setenv(name, "/of/nuke")
    monkeypatch.setenv("SHOW", "mirage")
    with mock.patch.object(sys, "executable", "/of/nuke"):
        actions.train()
        desk.wait_for_message()
    environment = other.seen()[1]
    assert not set(own) & set(environment)
    assert environment["SHOW"] == "mirage"
    monkeypatch.setenv(studio.KEEP_VARIABLE, "OCIO, PYTHONPATH")
    kept = {name: value for name, value in studio.environment().items() if name in own}
    assert kept == {"OCIO": "/of/nuke", "PYTHONPATH": "/of/nuke"}


def _unsaved(training: nuke.Node) -> None:
    del training
    nuke.root()["name"].setValue("")


def _without_folder(training: nuke.Node) -> None:
    training["dataDirectory"].setValue("")


def _open_input(training: nuke.Node) -> None:
    training.setInput(0, None)


def _second(training: nuke.Node) -> None:
    del training
    nuke.nodes.CopyCat()


def _none(training: nuke.Node) -> None:
    nuke.delete(training)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_unsaved, "the script was never saved; save it first"),
        (_without_folder, "CopyCat1: knob dataDirectory is empty; choose a folder"),
        (_open_input, "CopyCat1: nothing is connected to its Input; connect the frames"),
        (_second, "there are 2 training nodes (CopyCat1, CopyCat2); select the one that is meant"),
        (_none, "the script has no training node; make one"),
    ],
)
def test_what_can_be_known_before_is_said_at_once(tmp_path: Path, desk: Desk, spoil: object, said: str) -> None:
    training = scene(tmp_path)
    assert callable(spoil)
    spoil(training)
    actions.train()
    assert [line.startswith(said) for line in desk.messages] == [True], desk.messages
    assert len(desk.messages[0].splitlines()) == 1


def test_flags_that_are_no_words_are_said(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path)
    desk.fields = {"Further flags": "--name 'open"}
    actions.train()
    assert desk.messages == ['Further flags "--name \'open" cannot be read (No closing quotation); mind the quotes']


def test_a_cancelled_dialog_sends_nothing(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path)
    desk.fields = None
    actions.train()
    assert (desk.messages, desk.pending.qsize()) == ([], 0)


@pytest.mark.parametrize(
    ("output", "errors", "code", "said"),
    [
        ("", "understudy: farm gone: no answer; ask again\n", 2, "farm gone: no answer; ask again"),
        (
            "",
            "x: No module named understudy\n",
            1,
            "the studio's Python ended with exit code 1 (x: No module named understudy); if",
        ),
        ("", "Traceback\n  KeyError: 'a'\n\n", 1, "the studio's Python ended with exit code 1 (KeyError: 'a')"),
        ("", "", 9, "the studio's Python ended with exit code 9 (it said nothing)"),
        ("no JSON", "", 0, "understudy answers what this plugin cannot read"),
        ("[1]", "", 0, "understudy answers what this plugin cannot read"),
        ("{}", "", 0, "understudy: a fault of the plugin (KeyError('farm')); please report"),
    ],
)
def test_what_goes_wrong_beside_nuke_is_said(
    tmp_path: Path, desk: Desk, other: Studio, output: str, errors: str, code: int, said: str
) -> None:
    other.answers(output, errors, code)
    scene(tmp_path)
    actions.train()
    line = desk.wait_for_message()
    assert line.startswith(said)
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("", "no Python with understudy was found; choose it in understudy > Studio Python..., or set"),
        ("/gone/python", "/gone/python: is no program; choose the studio's Python in understudy > Studio"),
    ],
)
def test_no_python_is_said(tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch, python: str, said: str) -> None:
    monkeypatch.setenv(studio.PYTHON_VARIABLE, python)
    monkeypatch.setenv("PATH", str(tmp_path))
    scene(tmp_path)
    actions.train()
    assert desk.wait_for_message().startswith(said)


def test_the_artist_may_cancel(tmp_path: Path, desk: Desk, other: Studio) -> None:
    other.answers(at_once=False)
    scene(tmp_path)
    desk.cancels = True
    actions.train()
    assert desk.wait_for_message() == "Submit CopyCat1: cancelled"


def test_the_python_is_the_preferred_one_or_the_one_beside_understudy(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert studio.python() == sys.executable
    monkeypatch.delenv(studio.PYTHON_VARIABLE)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert Path(studio.python()).parent == Path(sys.executable).parent
    desk.text_typed = sys.executable
    actions.choose_python()
    assert studio.preferred_python() == studio.python() == sys.executable
    desk.text_typed = "/gone/python"
    actions.choose_python()
    assert desk.messages == [
        "/gone/python: is no program; choose the studio's Python in understudy > Studio Python..., "
        "or set $UNDERSTUDY_PYTHON"
    ]
    Path(studio.preferences_file()).write_text("{damaged")
    assert studio.preferred_python() == ""


def test_what_only_nuke_evaluates_is_named_and_baked_first(
    tmp_path: Path, desk: Desk, other: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here, where the bake is over when it is sent, or on the farm, where it goes along."""
    other.answers()
    scene(tmp_path, upstream="Keylight")
    baked = tmp_path / "baked.nk"
    baked.write_text("Root { inputs 0 }\n")
    laid = bake.LaidOut(str(baked), "CopyCat1", ("-F", "1-3", "-X", "A,B", "the comp.nk"))
    monkeypatch.setattr(bake, "render", lambda _, then: then(laid))
    monkeypatch.setattr(bake, "lay_out", lambda _, then: then(laid))
    monkeypatch.setenv(studio.NUKE_VARIABLE, "/opt/Nuke")
    desk.chosen = None
    actions.train()
    assert desk.asked == [
        "CopyCat1: only Nuke evaluates Keylight1 (Keylight). Bake its inputs to EXR, and train on those:"
    ]
    assert desk.pending.empty()
    for chosen, further in ((0, []), (1, ["--bake", "/opt/Nuke -F 1-3 -X A,B 'the comp.nk'"])):
        desk.chosen = chosen
        actions.train()
        assert desk.wait_for_message().startswith("CopyCat1 was submitted")
        words = other.seen()[0]
        where = ["--batch", "shot", *further, "--data-directory", f"{tmp_path}/runs"]
        assert words[4:] == ["-X", "CopyCat1", *where, str(baked)]
        assert baked.exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [("--farm nowhere", "nowhere"), ("--no-such-flag", "--no-such-flag"), ("--data-directory {file}/runs", "{file}")],
)
def test_understudy_itself_says_what_is_wrong(tmp_path: Path, desk: Desk, flags: str, said: str) -> None:
    """The real command: a farm that is not there, a flag that is none, a data directory that cannot be written."""
    file = tmp_path / "file"
    file.touch()
    scene(tmp_path, "Understudy")
    desk.fields = {"Further flags": flags.format(file=file)}
    actions.train()
    line = desk.wait_for_message()
    assert said.format(file=file) in line
    assert len(line.splitlines()) == 1
    assert "Traceback" not in line
