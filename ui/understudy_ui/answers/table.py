"""Which function answers which question."""

from __future__ import annotations

from pathlib import Path

from understudy_ui.answers import actions, curves, estimate, fields, logs, pictures, results, rows, run, training
from understudy_ui.answers.service import Answer


def answers_in(folder: Path) -> dict[str, Answer]:
    """All of protocol.py; pictures lie in `folder`."""
    book, histories, farms = rows.RunBook(), curves.Histories(), run.Farms()
    runs, gallery, acts = run.Runs(book, histories, farms), pictures.Pictures(folder), actions.Actions(book, farms)
    return {
        "fields": Answer(lane="quick", give=fields.fields),
        "farms": Answer(lane="slow", give=fields.farms),
        "nodes": Answer(lane="quick", give=training.nodes),
        "source": Answer(lane="quick", give=training.source),
        "check": Answer(lane="slow", give=training.check),
        "thumbnail": Answer(lane="slow", give=gallery.thumbnail),
        "estimate": Answer(lane="slow", give=lambda asking: estimate.estimate(asking, book)),
        "preview": Answer(lane="slow", give=training.preview),
        "farm names": Answer(lane="slow", give=training.farm_names),
        "submit": Answer(lane="acts", give=training.submit),
        "runs": Answer(lane="quick", give=book.rows),
        "run": Answer(lane="quick", give=runs.run),
        "curve": Answer(lane="quick", give=histories.curve),
        "log": Answer(lane="quick", give=logs.log),
        "sheet": Answer(lane="quick", give=pictures.sheet),
        "view": Answer(lane="slow", give=gallery.view),
        "stop": Answer(lane="acts", give=acts.stop),
        "resume": Answer(lane="acts", give=acts.resume),
        "requeue": Answer(lane="acts", give=acts.requeue),
        "cancel": Answer(lane="acts", give=acts.cancel),
        "rename": Answer(lane="acts", give=acts.rename),
        "trash": Answer(lane="acts", give=acts.trash),
        "apply": Answer(lane="long", give=results.apply),
        "export": Answer(lane="long", give=results.export),
        "suggest": Answer(lane="long", give=results.suggest),
    }
