"""Every kind of file that is damaged."""

from __future__ import annotations

from tests.fuzz.kind import Kind
from tests.fuzz.kinds_of_frames import FOOTAGE_KIND, FRAME_KINDS
from tests.fuzz.kinds_of_jobs import JOB_KINDS
from tests.fuzz.kinds_of_models import MODEL_KINDS
from tests.fuzz.kinds_of_panel import PANEL_KINDS
from tests.fuzz.kinds_of_runs import RUN_KINDS
from tests.fuzz.kinds_of_sources import SOURCE_KINDS
from tests.fuzz.misbehaving import MISBEHAVING

KINDS: tuple[Kind, ...] = (*SOURCE_KINDS, *FRAME_KINDS, *RUN_KINDS, *JOB_KINDS, *PANEL_KINDS, *MODEL_KINDS)
BY_NAME = {kind.name: kind for kind in (*KINDS, FOOTAGE_KIND, MISBEHAVING)}
