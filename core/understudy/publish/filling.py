"""A version is filled: copies, pictures, exports, timeline, card, and at last the manifest."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder, write_atomically, write_text
from understudy.frames.colour import DEFAULT_COLOUR
from understudy.publish.card import Contents, card_text
from understudy.publish.exports import Say, files_of_exports, make_exports, place_of
from understudy.publish.facts import Facts, Role
from understudy.publish.manifest import Published, write_manifest
from understudy.publish.plan import Plan
from understudy.publish.result import Result
from understudy.publish.thumbnail import thumbnail_of_frame, thumbnail_of_sheet
from understudy.runs import MODEL_SUFFIX
from understudy.sources.timeline_result import write_result_timeline
from understudy.versions import Version

CARD, THUMBNAIL, RESULT_TIMELINE, RESULT = "README.md", "thumbnail.png", "result.otio", "result"
NAMES: Mapping[Role, str] = {
    "contact sheet": "contact_sheet.png",
    "graph": "graph.png",
    "pairs": "pairs.otio",
    "record": "run.json",
    "script": "script.nk",
}


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A version that is being filled."""

    version: Version
    roles: dict[str, str] = field(default_factory=dict)
    """What has been put in, and what for."""

    def new(self, name: str, role: str) -> Path:
        """Where to put something."""
        self.roles[name] = role
        return self.version.aside / name

    def name_of(self, role: str) -> str:
        """Empty when there is nothing of that role."""
        return next((name for name, one in self.roles.items() if one == role), "")


def fill(version: Version, plan: Plan, say: Say) -> None:
    """Everything, the manifest last. Raises UnderstudyError for what cannot be read or written."""
    folder = Folder(version=version)
    aside, name, model = folder.version.aside, folder.version.place.name, plan.facts.model
    say(f"Publishing {model.path} as {name}")
    _copy(model.path, folder.new(f"{name}{MODEL_SUFFIX}", "model"))
    _put_files_of_run(plan.facts, folder, say)
    if plan.result:
        _put_result(plan.result, plan, folder)
    _put_thumbnail(plan, folder)
    if plan.hosts:
        _put_exports(plan, folder, say)
    contents = Contents(
        title=name,
        model=folder.name_of("model"),
        thumbnail=folder.name_of("thumbnail"),
        contact_sheet=folder.name_of("contact sheet"),
        graph=folder.name_of("graph"),
        pairs=folder.name_of("pairs"),
        result=folder.name_of("result"),
        result_timeline=folder.name_of("timeline"),
        exports=files_of_exports(aside, plan.hosts),
        left_out=plan.left_out,
    )
    text = card_text(plan.facts, contents, licence=plan.order.licence, result=plan.result)
    write_text(folder.new(CARD, "card"), text)
    published = Published(
        name=plan.name,
        facts=plan.facts,
        licence=plan.order.licence,
        result=plan.result,
        left_out=plan.left_out,
        roles=folder.roles,
    )
    write_manifest(aside, folder.version, published)


def _put_files_of_run(facts: Facts, folder: Folder, say: Say) -> None:
    for role, source in facts.files().items():
        if source:
            _copy(source, folder.new(NAMES[role], role))
        elif role != "script":  # only runs from one have it
            say(f"warning: the run has no {role}; the version is without")


def _put_result(result: Result, plan: Plan, folder: Folder) -> None:
    copies = None
    if plan.order.copy_result:
        place = folder.new(RESULT, "result")
        make_folder(place)
        for frame in result.frames:
            _copy(result.file(frame), place / result.file(frame).name)
        copies = folder.version.place / RESULT
    tracks = result.tracks(folder.version.place.name, copies)
    about = {"run": plan.facts.model.card.run_name, "step": plan.facts.model.card.step}
    write_result_timeline(folder.new(RESULT_TIMELINE, "timeline"), tracks, about)


def _put_thumbnail(plan: Plan, folder: Folder) -> None:
    run, result = plan.facts.run, plan.result
    sheet = folder.name_of("contact sheet")
    if result:
        middle = result.file(result.frames[len(result.frames) // 2])
        colour = run.order.colour if run else DEFAULT_COLOUR
        thumbnail_of_frame(middle, plan.facts.model.spec.target_channels, colour, folder.new(THUMBNAIL, "thumbnail"))
    elif sheet:
        thumbnail_of_sheet(folder.version.aside / sheet, folder.new(THUMBNAIL, "thumbnail"))


def _put_exports(plan: Plan, folder: Folder, say: Say) -> None:
    from understudy.train.export.deliver import ExportOrder  # torch: only now

    order = plan.order
    orders = [
        ExportOrder(
            model=plan.facts.model.path,
            to=host,
            folder=place_of(folder.version.aside, host),
            make_cat=order.make_cat and host == "nuke",
            nukex=order.nukex,
            remap=order.remap,
        )
        for host in plan.hosts
    ]
    folder.roles.update({f"exports/{host}": f"export to {host}" for host in plan.hosts})
    make_exports(orders, say)


def _copy(source: Path, target: Path) -> None:
    """Raises UnderstudyError naming which of the two is at fault."""
    try:
        source.open("rb").close()
    except OSError as error:
        raise UnderstudyError(f"{source}: cannot be read ({error.strerror}); check its permissions") from error
    write_atomically(target, partial(shutil.copyfile, source))
