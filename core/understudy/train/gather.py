"""One step's crops cut out of the decoded frames, or a table of them for a GPU that cuts them out itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.train.crops import Crop, CropPlan
from understudy.train.device_frames import DeviceFrames, common_dtype
from understudy.train.drawn import Batch, Places
from understudy.train.encoded_frames import EncodedFrames
from understudy.train.ends import part_of
from understudy.train.misses import Misses
from understudy.train.shifts import REACH, all_count, cubics, moved

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, kw_only=True)
class _Side:
    """The plates that crops are cut out of, or the ground truths: one for each crop, H W C."""

    scene: Sequence[StoredPixels]
    """Scene-linear."""
    lying: Sequence[StoredPixels]
    """What is cut out where nothing is moved: the same, or what `encode` makes of it."""
    ends: Sequence[tuple[float, float]]
    """Of each `scene`, its least and greatest value."""
    encode: Callable[[Tensor], Tensor] | None
    """For crops that are moved."""


@dataclass(frozen=True, kw_only=True)
class _Motion:
    """Of the crops that are moved, of plates as of truths."""

    numbers: Sequence[int]
    """Which they are, among all."""
    weights: Tensor
    """`cubics` of their shifts, not mirrored yet."""


def gather(
    pairs: tuple[DecodedPair, ...],
    plan: CropPlan,
    misses: Misses,
    samples: Sequence[int],
    *,
    encoded: EncodedFrames | None = None,
    pin: bool = False,
) -> Batch:
    """Cut the crops of `samples` out of the decoded pairs. `encoded`: of these pairs. `pin`: for a GPU."""
    crops = _draw(plan, misses, samples)
    of_crops, lying = ([some[crop.pair] for crop in crops] for some in (pairs, encoded.pairs if encoded else pairs))
    plates = _Side(
        scene=[pair.input for pair in of_crops],
        lying=[pair.input for pair in lying],
        ends=[pair.facts.input_range for pair in of_crops],
        encode=encoded.plate.encode if encoded else None,
    )
    truths = _Side(
        scene=[pair.target for pair in of_crops],
        lying=[pair.target for pair in lying],
        ends=[pair.facts.target_range for pair in of_crops],
        encode=encoded.truth.encode if encoded else None,
    )
    valid = _valid(pairs, crops, plan, pin=pin)
    motion = _motion(crops)
    inputs, targets = (_cut(side, crops, motion, plan, pin=pin) for side in (plates, truths))
    is_encoded, grain = encoded is not None, _grain(crops, plan, pin=pin)
    return Batch(input=inputs, target=targets, crops=crops, valid=valid, grain=grain, is_encoded=is_encoded)


def locate(
    pairs: tuple[DecodedPair, ...], plan: CropPlan, misses: Misses, samples: Sequence[int], frames: DeviceFrames
) -> Places:
    """As `gather`, of a GPU's `frames` of the same pairs."""
    crops = _draw(plan, misses, samples)
    valid = _valid(pairs, crops, plan, pin=frames.wants_pinned)
    table, size = frames.table(crops), (plan.height, plan.width)
    grain = _grain(crops, plan, pin=frames.wants_pinned)
    places = Places(frames=frames, table=table, size=size, crops=crops, valid=valid, grain=grain)
    if not any(crop.is_moved for crop in crops):
        return places
    facts = [pairs[crop.pair].facts for crop in crops]
    ends = [_with_black([one.input_range for one in facts]), _with_black([one.target_range for one in facts])]
    weights, both_ends = cubics([crop.shift for crop in crops]), torch.stack(ends)
    if frames.wants_pinned:
        weights, both_ends = weights.pin_memory(), both_ends.pin_memory()
    return replace(places, weights=weights, ends=both_ends)


def _draw(plan: CropPlan, misses: Misses, samples: Sequence[int]) -> tuple[Crop, ...]:
    return tuple(plan.draw(sample, misses.focus(sample)) for sample in samples)


def _grain(crops: Sequence[Crop], plan: CropPlan, *, pin: bool) -> Tensor | None:
    """N 3: `Crop.grain` of each; None where none is laid over them."""
    if not plan.has_grain:
        return None
    places = torch.tensor([crop.grain for crop in crops])
    return places.pin_memory() if pin else places


def _motion(crops: Sequence[Crop]) -> _Motion | None:
    """None where none is."""
    numbers = [number for number, crop in enumerate(crops) if crop.is_moved]
    if not numbers:
        return None
    return _Motion(numbers=numbers, weights=cubics([crops[number].shift_in_frame for number in numbers]))


def _cut(side: _Side, crops: Sequence[Crop], motion: _Motion | None, plan: CropPlan, *, pin: bool) -> Tensor:
    """Each crop out of its frame: N C H W, in half, or in float32 if one of them is held so, or moved."""
    in_motion = iter(_moved(side, crops, motion, plan) if motion else ())
    cut = [
        next(in_motion) if crop.is_moved else part_of(pixels, plan.window(crop))
        for crop, pixels in zip(crops, side.lying, strict=True)
    ]
    room = _room(crops, plan, cut[0].shape[2], common_dtype(cut), pin=pin)
    for pixels, crop, place in zip(cut, crops, room.numpy(), strict=True):
        _lay(pixels, place, crop.mirrored)
    return room.permute(0, 3, 1, 2)


def _moved(side: _Side, crops: Sequence[Crop], motion: _Motion, plan: CropPlan) -> Sequence[StoredPixels]:
    """Those that are to be moved: H W C each, not mirrored yet."""
    parts = [part_of(side.scene[number], plan.window(crops[number], REACH)) for number in motion.numbers]
    around = torch.from_numpy(np.stack(parts)).permute(0, 3, 1, 2)  # N C h w
    ends = _with_black([side.ends[number] for number in motion.numbers])
    scene = moved(around, motion.weights, ends)  # N C H W
    done: FloatPixels = (side.encode(scene) if side.encode else scene).permute(0, 2, 3, 1).numpy()
    return list(done)


def _with_black(ends: Sequence[tuple[float, float]]) -> Tensor:
    """N 2: the same, of which black, as it lies around a data window, is between the ends."""
    return torch.from_numpy(np.array([(min(least, 0.0), max(greatest, 0.0)) for least, greatest in ends], np.float32))


def _mask(pair: DecodedPair, crop: Crop, plan: CropPlan) -> NDArray[np.bool_] | None:
    """H W, not mirrored yet: which of the crop's pixels count; None when all do."""
    if pair.valid is None and plan.may_mirror:
        return None
    if not crop.is_moved:
        return _counts(pair, plan.window(crop), plan)
    around = _counts(pair, plan.window(crop, REACH), plan)
    return None if around is None else all_count(around)


def _valid(pairs: Sequence[DecodedPair], crops: Sequence[Crop], plan: CropPlan, *, pin: bool) -> Tensor | None:
    """N 1 H W: which pixels count; None when all do."""
    masks = [_mask(pairs[crop.pair], crop, plan) for crop in crops]
    if all(mask is None for mask in masks):
        return None
    room = _room(crops, plan, 1, torch.bool, pin=pin)
    for mask, crop, counts in zip(masks, crops, room.numpy(), strict=True):
        if mask is None:
            counts.fill(True)
        else:
            _lay(mask[..., None], counts, crop.mirrored)
    return room.permute(0, 3, 1, 2)


def _room(crops: Sequence[Crop], plan: CropPlan, num_channels: int, dtype: torch.dtype, *, pin: bool) -> Tensor:
    """N H W C, of which a GPU can copy at its own time if it is pinned."""
    return torch.empty(len(crops), plan.height, plan.width, num_channels, dtype=dtype, pin_memory=pin)


def _counts(pair: DecodedPair, place: Window, plan: CropPlan) -> NDArray[np.bool_] | None:
    """H W: which pixels of the place count; None when all do.

    Past the end of a frame none does where channels may hold directions, which a mirror image has wrong.
    """
    mask = None if pair.valid is None else part_of(pair.valid, place)
    frame = Window.of_size(pair.window.width, pair.window.height)
    if not plan.may_mirror and not frame.contains(place):
        inside = frame.intersect(place).moved(-place.x0, -place.y0)
        counts = np.zeros((place.height, place.width), np.bool_)
        rows, columns = slice(inside.y0, inside.y1), slice(inside.x0, inside.x1)
        counts[rows, columns] = True if mask is None else mask[rows, columns]
        return counts
    return None if mask is None or mask.all() else mask


def _lay(pixels: NDArray[Number], room: NDArray[Number], mirrored: bool) -> None:
    """H W C into H W C. Channel by channel when mirrored: NumPy is slow at turning over a few numbers at a time."""
    if not mirrored:
        room[...] = pixels
        return
    for channel in range(pixels.shape[2]):
        room[..., channel] = pixels[:, ::-1, channel]
