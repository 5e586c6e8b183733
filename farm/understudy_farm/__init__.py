"""understudy on a farm: one job description, N rank tasks, every farm.

from understudy_farm import submit
sent = submit(order, farm="slurm", ranks=4, pool="gpu")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy.orders import Order
    from understudy_farm.folder import Sent

__all__ = ["submit"]


def submit(
    order: Order,
    *,
    preset: str = "",
    options: Mapping[str, str] | None = None,
    looks_at_frames: bool = True,
    command: str = "understudy_farm.submit",
    **choices: object,
) -> Sent:
    """Submit a training as `understudy submit` does; `choices` are the fields of choices.Choices.

    `options`: what only this farm can be told. Presets and environment count as they do there.
    Raises UnderstudyError, or Problems; then no job, process or folder is left behind, or what is left is named.
    """
    from understudy_farm.presets import chosen  # OpenImageIO and more: not for --help
    from understudy_farm.submission import Request, send

    made, farm, site = chosen(choices, options or {}, preset=preset)
    request = Request(order=order, choices=made, farm=farm, site=site, command=command, looks_at_frames=looks_at_frames)
    return send(request, lambda _: None)
