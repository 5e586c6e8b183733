"""`understudy card`: the card of a model or run before anybody publishes it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.core.cli.command import Command, write_script
from tests.core.train.shots import SmallShot


def test_of_a_run(command: Command, trained: SmallShot) -> None:
    ending = command("card", trained.data, "--licence", "ours")
    assert (ending.code, ending.faults) == (0, [])
    assert ending.out.startswith(
        "# first\n\nMakes R, G, B from R, G, B, frame by frame. It has learnt that from 2 painted"
    )
    assert "| Steps | 4 of 4 |" in ending.out
    assert "| Licence | ours |" in ending.out
    assert f"understudy export {trained.data / 'first.4.safetensors'} --to flame\n" in ending.out
    links = re.findall(r"\]\(([^)]+)\)", ending.out)
    assert [Path(link).name for link in links] == ["first.pairs.otio", "first.graph.png"]
    assert all(Path(link).is_file() for link in links)
    assert ending.out == command("card", trained.data / "first.4.safetensors", "--licence", "ours").out
    assert "| Steps | 2 of 4 |" in command("card", trained.data / "first.2.safetensors").out


def test_what_the_table_says_the_card_says(command: Command, trained: SmallShot) -> None:
    card = command("card", trained.data).out
    table = dict(
        line.split(":", 1) for line in command("info", trained.data).out.splitlines() if not line.startswith(" ")
    )
    told = {name: value.strip() for name, value in table.items() if name not in ("Model", "Pairs")}
    assert len(told) > 8
    assert [name for name, value in told.items() if f"| {name} | {value} |" not in card] == []


def test_of_a_run_from_a_script(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder)
    assert command("-X", "CopyCat1", "--data-directory", shot.data, "--steps", "2", "--device", "cpu", script).code == 0
    card = " ".join(command("card", shot.data).out.split())
    assert (
        f"The pairs are those of node CopyCat1 in the Nuke script `{script}`, by the numbers of its timeline." in card
    )
    assert f"- Input: `{shot.plate}` 1001" in card


def test_of_a_run_by_the_clock(command: Command, trained: SmallShot) -> None:
    record = trained.data / "first.run.json"
    record.write_text(record.read_text().replace('"minutes": 0.0', '"minutes": 5.0'))
    assert "| Steps | 4, by the clock |" in command("card", trained.data).out
