"""Grain that is laid over crops is as strong, as soft and as coloured as that of the plates; no two have the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.core.train.decoded import decoded
from tests.core.train.lessons import machine

from understudy.dataset import Dataset
from understudy.demo.filters import blur
from understudy.train.crops import FIELD_SIDE, CropPlan
from understudy.train.device_frames import DeviceFrames
from understudy.train.drawn import Batch
from understudy.train.gather import gather, locate
from understudy.train.grain import Grain, looked_up, sliced
from understudy.train.misses import Misses
from understudy.train.plate_grain import STRONGEST_OVER_MATTES, grain_of
from understudy.train.transfer import Transfer, choose_curve

Pixels = NDArray[np.float32]
SIZE = (216, 384)
CROP_SIZE = 32
FLOOR, SLOPE = 0.003, 0.0008
"""Deviation in black, variance per light."""


def light() -> Pixels:
    """H W 3: from dark to above white, with a texture on the right half."""
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]].astype(np.float32)
    ramp = 0.005 + 1.5 * (rows / SIZE[0]) ** 2
    texture = 1 + 0.4 * np.sin(columns) * np.cos(rows * 1.3) * (columns > SIZE[1] / 2)
    lit: Pixels = (ramp * texture)[..., None] * np.array([1.0, 0.7, 0.5], np.float32)
    return lit.astype(np.float32)


def grainy(softness: float = 0.0, *, is_grey: bool = False) -> Pixels:
    clean = light()
    noise = np.random.default_rng(3).standard_normal(clean.shape, np.float32)
    noise = blur(np.repeat(noise[..., :1], 3, axis=2) if is_grey else noise, softness, softness)
    grain: Pixels = noise / noise.std() * np.sqrt(FLOOR**2 + SLOPE * clean)
    return clean + grain


def dataset(plate: Pixels, channels: tuple[str, ...] = ("R", "G", "B")) -> Dataset:
    matte = np.zeros((*plate.shape[:2], 1), np.float32)
    return Dataset(pairs=(decoded(plate, matte, CROP_SIZE),), input_channels=channels, target_channels=("A",))


def transfer(channels: tuple[str, ...] = ("R", "G", "B")) -> Transfer:
    made = Transfer(len(channels))
    made.set_curves([choose_curve(name, np.linspace(0, 1, 9, dtype=np.float32)) for name in channels])
    return made


def found(given: Dataset, *, is_matte: bool = True) -> Grain | None:
    return grain_of(given, transfer(given.input_channels), CROP_SIZE, is_matte=is_matte)


def measured(plate: Pixels) -> Grain:
    grain = found(dataset(plate))
    assert grain
    return grain


def painted(target: Pixels, channels: tuple[str, ...] = ("R", "G", "B")) -> Dataset:
    """From a grainy plate, whose channels are R, G and B, to this."""
    pair = decoded(grainy(), target, CROP_SIZE)
    return Dataset(pairs=(pair,), input_channels=("R", "G", "B"), target_channels=channels)


def laid(grain: Grain, scene: float, strength: float, count: int = 8) -> torch.Tensor:
    """What is laid over even crops: N C H W, scene-linear, as the curves give it back."""
    places = torch.tensor([[29.0 * number, 31.0 * number, strength] for number in range(count)])
    even = (
        transfer()
        .encode(torch.full((count, 3, CROP_SIZE, CROP_SIZE), scene))
        .contiguous(memory_format=torch.channels_last)
    )
    batch = Batch(input=even, target=even[:, :1], crops=(), grain=places, is_encoded=True)
    over = grain.over(batch, 1)
    assert over.target is batch.target, "mattes have none"
    return transfer().decode(over.input) - scene


@pytest.mark.parametrize("scene", [0.02, 0.18, 0.9])
def test_it_is_as_strong_as_the_plates_in_shade_and_light(scene: float) -> None:
    deviation = float(laid(measured(grainy()), scene, 1 / STRONGEST_OVER_MATTES).std())
    assert deviation == pytest.approx(np.sqrt(FLOOR**2 + SLOPE * scene), rel=0.3)


def test_its_strength_is_the_crop_s() -> None:
    grain = measured(grainy())
    assert not laid(grain, 0.18, 0.0).abs().max() > 1e-6
    ratio = laid(grain, 0.18, 1.0).std() / laid(grain, 0.18, 0.25).std()
    assert float(ratio) == pytest.approx(4, rel=0.03)


def test_it_is_as_soft() -> None:
    def alike_beside(softness: float) -> float:
        field = measured(grainy(softness)).field[:FIELD_SIDE, :FIELD_SIDE].numpy()
        return float((field * np.roll(field, 1, axis=1)).mean())

    assert alike_beside(0.0) == pytest.approx(0, abs=0.1)
    assert alike_beside(0.8) == pytest.approx(np.exp(-1 / (4 * 0.8**2)), abs=0.12)


def test_channels_are_as_alike() -> None:
    def alike(plate: Pixels) -> float:
        field = measured(plate).field[:FIELD_SIDE, :FIELD_SIDE].numpy()
        return float((field[..., 0] * field[..., 1]).mean())

    assert abs(alike(grainy())) < 0.25
    assert alike(grainy(is_grey=True)) > 0.95


def test_what_comes_round_has_no_seam() -> None:
    field = measured(grainy(0.8)).field
    assert len(field) == FIELD_SIDE + CROP_SIZE
    assert field[FIELD_SIDE:].equal(field[:CROP_SIZE])
    across_it = (field[FIELD_SIDE] - field[FIELD_SIDE - 1]).std()
    assert float(across_it) == pytest.approx(float((field[1:] - field[:-1]).std()), rel=0.2)


def test_a_gpu_cuts_out_what_a_cpu_does() -> None:
    field = measured(grainy()).field
    places = torch.tensor([[0.0, 0.0, 1.0], [FIELD_SIDE - 1.0, 7.0, 0.5], [100.0, FIELD_SIDE - 1.0, 0.0]])
    by_slices, by_places = (cut(field, places, 20, CROP_SIZE) for cut in (sliced, looked_up))
    assert by_slices.shape == (3, 3, 20, CROP_SIZE)
    assert by_places.equal(by_slices)
    assert by_places.stride() == by_slices.stride()


def test_only_colours_have_it() -> None:
    channels = ("R", "G", "B", "A")
    plate = np.concatenate([grainy(), grainy()[..., :1] / 3], axis=2)
    grain = found(dataset(plate, channels))
    assert grain
    given = torch.rand(2, 4, CROP_SIZE, CROP_SIZE).contiguous(memory_format=torch.channels_last)
    batch = Batch(input=given, target=given, crops=(), grain=torch.tensor([[0.0, 9.0, 1.0]] * 2), is_encoded=True)
    over = grain.over(batch, 1).input
    assert over[:, 3].equal(given[:, 3])
    assert not over[:, :3].eq(given[:, :3]).all()
    assert over.is_contiguous(memory_format=torch.channels_last)


def test_none_where_plates_have_none() -> None:
    assert found(dataset(np.zeros((*SIZE, 3), np.float32))) is None, "one value throughout"
    assert found(dataset(grainy()[:9, :9])) is None, "smaller than what is looked at"
    assert found(dataset(grainy()[..., :1], ("depth.Z",))) is None, "no colour"
    assert found(dataset(light())) is None, "clean"
    half_clean = np.concatenate([grainy(), light()])
    assert found(dataset(half_clean)) is None, "as of a rendering that was put before a plate"
    for steps in (1024, 1000):  # the second ones are rounded, as they lie between halves
        ramp_in_blue = grainy()
        ramp_in_blue[..., 2] = np.arange(SIZE[1]) / steps
        assert found(dataset(ramp_in_blue)) is None, "one colour that has none"


def laid_over_both(grain: Grain, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What is laid over plates, N 3 h w, and over these targets."""
    plate = torch.rand(4, 3, 20, 20).contiguous(memory_format=torch.channels_last)
    places = torch.tensor([[9.0, 5.0 * number, 0.7] for number in range(4)])
    over = grain.over(Batch(input=plate, target=target, crops=(), grain=places, is_encoded=True), 1)
    assert over.input.is_contiguous(memory_format=torch.channels_last)
    assert over.target.is_contiguous(memory_format=torch.channels_last)
    return over.input - plate, over.target - target


def test_pictures_that_keep_their_plates_grain_have_the_same_laid_over_them() -> None:
    target = grainy()
    target[40:90, 40:90] *= 1.3  # paint
    grain = found(painted(target), is_matte=False)
    assert grain
    dark = torch.zeros(4, 3, 20, 20).contiguous(memory_format=torch.channels_last)
    over_plates, over_targets = laid_over_both(grain, dark)
    assert over_plates.std() > 0.001
    assert over_targets.allclose(over_plates, atol=1e-6), "as over the plate, however dark the paint"
    assert str(grain).startswith("laid over plates and targets, up to 2 times their own (")


def test_it_finds_targets_channels_by_their_names() -> None:
    turned = np.concatenate([grainy()[..., ::-1], np.ones((*SIZE, 1), np.float32)], axis=2)
    grain = found(painted(turned, ("B", "G", "R", "A")), is_matte=False)
    assert grain
    over_plates, over_targets = laid_over_both(
        grain, torch.ones(4, 4, 20, 20).contiguous(memory_format=torch.channels_last)
    )
    assert over_targets[:, :3].flip(1).allclose(over_plates, atol=1e-6)
    assert not over_targets[:, 3].any()


def test_pictures_that_do_not_keep_it_have_none() -> None:
    assert found(painted(light()), is_matte=False) is None, "its grain was taken away"
    assert found(painted(grainy() * 1.4), is_matte=False) is None, "a grade"
    assert found(painted(grainy(), ("R", "G", "spec.R")), is_matte=False) is None, "the plate has no such channel"


def test_pixels_that_are_not_valid_tell_nothing() -> None:
    plate = grainy()
    plate[:, 100:] += np.random.default_rng(0).standard_normal(plate[:, 100:].shape, np.float32)
    whole = dataset(plate)
    valid = np.zeros(SIZE, np.bool_)
    valid[:, :100] = True
    masked = replace(whole, pairs=(replace(whole.pairs[0], valid=valid),))
    grain = found(masked)
    assert grain
    assert grain.at_grey == pytest.approx(measured(grainy()[:, :100]).at_grey, rel=0.15)


def test_reduced_pixels_have_the_mean_of_theirs() -> None:
    grain = measured(grainy())
    even = torch.full((2, 3, 8, 8), 0.3).contiguous(memory_format=torch.channels_last)
    places = torch.tensor([[3.0, 5.0, 1.0], [7.0, 0.0, 0.5]])
    over = grain.over(Batch(input=even, target=even, crops=(), grain=places, is_encoded=True), 4).input - even
    cut = torch.stack([grain.field[3:35, 5:37], grain.field[7:39, :32]]).permute(0, 3, 1, 2)
    means = torch.nn.functional.avg_pool2d(cut, 4)
    assert np.corrcoef(over.flatten(), (means * torch.tensor([1.0, 0.5])[:, None, None, None]).flatten())[0, 1] > 0.95


def test_each_crop_has_its_own_and_a_resumed_run_the_same() -> None:
    pairs = dataset(grainy()).pairs
    plan, other = (
        CropPlan(pairs, (np.ones((14, 24), np.float32),), crop_size=CROP_SIZE, seed=5, has_grain=has)
        for has in (True, False)
    )
    misses = Misses(plan.interest)
    batch = gather(pairs, plan, misses, range(64))
    assert batch.grain is not None
    assert len({tuple(place) for place in batch.grain.tolist()}) == 64
    strengths = batch.grain[:, 2]
    assert 0 <= float(strengths.min()) < 0.1 < 0.9 < float(strengths.max()) < 1
    again = gather(pairs, plan, misses, range(40, 64))
    assert again.grain is not None
    assert again.grain.equal(batch.grain[40:])
    on_device = locate(pairs, plan, misses, range(64), DeviceFrames(pairs, torch.device("cpu")))
    assert on_device.grain is not None
    assert on_device.grain.equal(batch.grain)
    there = on_device.to(machine(torch.float32))
    assert there.grain is not None
    assert there.grain.equal(batch.grain)
    without = gather(pairs, other, misses, range(64))
    assert without.grain is None
    assert without.input.equal(batch.input), "drawn where they would be"
