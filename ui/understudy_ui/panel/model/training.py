"""What the Train place knows: the shot, the form, the farms; what is estimated, shown beforehand, and sent."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Optional, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest, about_words
from understudy_ui.panel.model.form import Form, field_words
from understudy_ui.panel.model.remembered import Remembered
from understudy_ui.panel.model.shot import Shot
from understudy_ui.panel.model.source import Source, from_record
from understudy_ui.panel.model.speech import BETWEEN, spoken_count, spoken_mib, spoken_seconds
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.voice import Voice
from understudy_ui.protocol import EstimateShown, FarmNames, FarmShown, Field, Json, PreviewShown, SentShown

LOCAL = "local"
MILLISECONDS_OF_CHANGES = 500
"""Silence after which a changed form is estimated anew, and remembered."""

OF_ANY_JOB = frozenset({"name", "comment"})
"""Fields of the farm that mean something for one process on this machine, too."""


class Training:
    """One training that is being prepared."""

    def __init__(self, desk: Desk, remembered: Remembered, voice: Voice) -> None:
        self._desk, self._remembered, self._voice = desk, remembered, voice
        self._estimating, self._changing, self._previewing, self._naming, self._sending = (Newest() for _ in range(5))
        self.shot = Shot(desk)
        self.form = Form([])
        self.farms: List[FarmShown] = []
        self.farm_forms: Dict[str, Form] = {}
        self.names: Optional[FarmNames] = None
        """What the chosen farm knows by name."""
        self.estimate: Optional[EstimateShown] = None
        self.estimate_fault = ""
        self.sending = ""
        """What a submission told last; empty: none is under way."""
        self.form_known, self.farm_changed, self.estimate_changed = Changes(), Changes(), Changes()
        self.sending_changed = Changes()
        self.shot.pairs_changed.subscribe(self._take_source)

    def start(self) -> None:
        """Ask what there is to choose."""
        self._desk.ask("fields", {}, self._on_fields, self._voice.complain)
        self._desk.ask("farms", {}, self._on_farms, self._voice.complain)

    def choose(self, source: Source, snapshot: str = "") -> None:
        """Take a source; if it was trained before, with the values that it had then."""
        if source.key() != self.shot.source.key():
            self.note()
            self.form.take_node({})
            self._recall(self._remembered.of(source.key()))
        self.shot.choose(source, snapshot)

    def open_newest(self) -> None:
        """What was worked on last."""
        about = self._remembered.newest()
        source = about.get("source")
        if isinstance(source, dict):
            self.choose(from_record(source))

    @property
    def farm(self) -> str:
        return str(self.form.value("farm")) if "farm" in self.form else LOCAL

    def farm_form(self) -> Optional[Form]:
        """The chosen farm's own options."""
        return self.farm_forms.get(self.farm)

    def words(self) -> List[str]:
        """What would follow `understudy submit`."""
        own = self.farm_form()
        return [*self.shot.words(), *self.form.words(), *(own.words() if own else [])]

    def words_here(self) -> List[str]:
        """The same for one process on this machine: nothing that is said to a farm."""
        chosen = self.form.chosen()
        words = self.shot.words()
        for field in self.form.fields:
            if field["name"] in chosen and (field["group"] != "farm" or field["name"] in OF_ANY_JOB):
                words += field_words(field, chosen[field["name"]])
        return [*words, "--farm", LOCAL]

    def is_ready(self) -> bool:
        return self.shot.shown is not None and not self.sending

    def check(self) -> None:
        self.shot.check(self.words())

    def preview(self, then: Callable[[PreviewShown], None]) -> None:
        """A dry run."""
        self._voice.say(tr("Dry run ..."))

        def on_preview(answer: Json) -> None:
            self._voice.say("")
            then(cast(PreviewShown, answer))

        self._previewing.put(self._desk.ask("preview", about_words(self.words()), on_preview, self._voice.complain))

    def send(self, words: List[str], then: Callable[[SentShown], None]) -> None:
        def on_sent(answer: Json) -> None:
            self._tell_sending("")
            then(cast(SentShown, answer))

        def on_faults(lines: List[str]) -> None:
            self._tell_sending("")
            self._voice.complain(lines)

        self._voice.say("")
        self.note()
        self._sending.put(self._desk.ask("submit", about_words(words), on_sent, on_faults, self._tell_sending))
        self._tell_sending(tr("Sending ..."))

    def give_up_sending(self) -> None:
        self._sending.drop()
        self._tell_sending("")

    def note(self) -> None:
        """Remember this shot's values, once it was seen what lies under them."""
        key = self.shot.source.key()
        if not key or self.shot.shown is None:
            return
        farms = {name: form.chosen() for name, form in self.farm_forms.items() if form.chosen()}
        self._remembered.note(
            key, {"source": self.shot.source.to_record(), "form": self.form.chosen(), "farms": cast(Json, farms)}
        )
        self._voice.complain(self._remembered.faults)
        self._remembered.faults = []

    def spoken_estimate(self) -> str:
        """22 500 steps · about 1 h 40 min · 3.2 GiB of frames in memory per machine · 410 MiB of disk"""
        if self.estimate is None:
            return self.estimate_fault
        known, said = self.estimate, []
        steps = {"about": tr("about {count} steps"), "at most": tr("at most {count} steps")}
        said.append(
            steps.get(known["certainty"], tr("{count} steps")).format(count=spoken_count(known["total_steps"]))
            if known["total_steps"]
            else tr("as many steps as the time allows")
        )
        said.append(
            tr("time unknown before the first run")
            if known["seconds"] is None
            else tr("about {time}").format(time=spoken_seconds(known["seconds"]))
        )
        said.append(
            tr("memory unknown before the bake")
            if known["memory_gib"] is None
            else tr("{size} of frames in memory per machine").format(size=spoken_mib(known["memory_gib"] * 1024))
        )
        said.append(tr("{size} of disk").format(size=spoken_mib(known["disk_mib"])))
        return BETWEEN.join(said)

    def suggestions(self, field: Field) -> List[str]:
        """Words that a text field may take: its own, or those that the live farm knows."""
        live = cast("Dict[str, List[str]]", self.names) if self.names else {}
        if field["name"] == "farm" and self.farms:
            return [farm["name"] for farm in self.farms]
        return live.get(field["name"]) or field["choices"]

    def _on_fields(self, answer: Json) -> None:
        fields = cast("List[Field]", answer)
        self.form = Form([{**field, "kind": "word"} if field["name"] == "farm" else field for field in fields])
        self._recall(self._remembered.of(self.shot.source.key()))
        self.form.changed.subscribe(self._on_change)
        self.form_known.tell()
        self._take_source()

    def _on_farms(self, answer: Json) -> None:
        self.farms = cast("List[FarmShown]", answer)
        self.farm_forms = {farm["name"]: Form(farm["options"]) for farm in self.farms}
        for form in self.farm_forms.values():
            form.changed.subscribe(self._on_change)
        self._recall(self._remembered.of(self.shot.source.key()))
        self.farm_changed.tell()

    def _recall(self, about: Mapping[str, Json]) -> None:
        chosen, farms = about.get("form"), about.get("farms")
        self.form.take_chosen(chosen if isinstance(chosen, dict) else {})
        for name, form in self.farm_forms.items():
            of_farm = farms.get(name) if isinstance(farms, dict) else None
            form.take_chosen(of_farm if isinstance(of_farm, dict) else {})

    def _take_source(self) -> None:
        """While it is looked at anew, or cannot be read, its node is taken to say what it said."""
        if self.shot.shown is not None:
            self.form.take_node(self.shot.shown["knobs"])

    def _on_change(self) -> None:
        self._changing.put(self._desk.after(MILLISECONDS_OF_CHANGES, self._after_change))

    def _after_change(self) -> None:
        if self.shot.shown is None:
            self.estimate, self.estimate_fault = None, ""
            self.estimate_changed.tell()
            return
        self.note()
        words = about_words(self.words())
        self._estimating.put(self._desk.ask("estimate", words, self._on_estimate, self._on_no_estimate))
        self._naming.put(self._desk.ask("farm names", words, self._on_names))

    def _on_estimate(self, answer: Json) -> None:
        self.estimate, self.estimate_fault = cast(EstimateShown, answer), ""
        self.estimate_changed.tell()

    def _on_no_estimate(self, lines: List[str]) -> None:
        self.estimate, self.estimate_fault = None, lines[0] if lines else ""
        self.estimate_changed.tell()

    def _on_names(self, answer: Json) -> None:
        if answer != self.names:
            self.names = cast(FarmNames, answer)
            self.farm_changed.tell()

    def _tell_sending(self, line: str) -> None:
        self.sending = line
        self.sending_changed.tell()
