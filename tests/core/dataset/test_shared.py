"""Sharing decoded frames on one machine: processes that race, die, fail, find faults, and leave."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.core.dataset.sharing import Asked, Rank, noted, ranks, readers, wait_until
from tests.picture_files import ramp, write_plate

from understudy.dataset import Dataset, decode, decode_once_per_host, pair_digests
from understudy.dataset.shelf import ALIGNMENT
from understudy.errors import Problems, UnderstudyError
from understudy.frames.window import Window
from understudy.pairs import Pair
from understudy.sources.sequences import SequenceSource

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks for this: each rank decodes")

FORMAT = Window.of_size(63, 47)
"""Odd: arrays that followed each other closely would not lie as the processor likes them."""


def pairs_in(folder: Path, frames: Sequence[int] = (1, 2, 3), *, damaged: int = 0) -> tuple[Pair, ...]:
    """Pairs of real files. Frame 2 has a pixel that is not finite, frame 3 one beyond half: each gives a warning."""
    for frame in frames:
        pixels = ramp(FORMAT, 3, frame) % 8
        if frame == 2:
            pixels[0, 0, 0] = np.nan
        if frame == 3:
            pixels[1, 1, 1] = 100_000.0
        path = write_plate(folder / f"plate.{frame}.exr", pixels)
        if frame == damaged:
            path.write_bytes(path.read_bytes()[:100])
    pattern = str(folder / "plate.#.exr")
    return SequenceSource(input=pattern, target=pattern, frames=tuple(frames)).pairs()


def digests(pairs: Sequence[Pair], cache_folder: Path) -> dict[str, str]:
    """As a single process decodes them."""
    return pair_digests(
        decode(pairs, crop_size=16, memory_bytes=1 << 30, cache_folder=cache_folder, warn=lambda _: None)
    )


def has(rank: Rank) -> object:
    """The digests of what the rank got, after whatever else it says."""
    said = rank.says()
    while said[0] in ("waiting", "warning"):
        said = rank.says()
    assert said[0] == "has", said
    return said[1]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def test_racing_ranks_read_every_file_once_and_get_the_same(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)
    asked = Asked(pairs=noted(pairs, tmp_path), cache_folder=cache)
    expected = digests(pairs, cache)
    with ranks(*[asked] * 4) as racing:
        assert [has(rank) for rank in racing] == [expected] * 4
        assert len(readers(tmp_path)) == len(pairs)
        (folder,) = cache.iterdir()
        assert folder.name.startswith(f"understudy-{os.getuid()}-")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
        for rank in racing[:3]:
            rank.leave()
        assert list(cache.iterdir()) == [folder]
        with ranks(asked) as late:
            assert has(late[0]) == expected
            assert len(readers(tmp_path)) == len(pairs)
            late[0].leave()
        racing[3].leave()
        assert list(cache.iterdir()) == []


def test_ranks_that_come_and_go_never_miss_their_frames(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)
    expected = digests(pairs, cache)
    asked = Asked(pairs=pairs, cache_folder=cache)
    for _ in range(3):
        with ranks(*[asked] * 3) as passing:
            for rank in passing:
                assert has(rank) == expected
                rank.leave()
    assert list(cache.iterdir()) == []


def test_the_first_one_waiting_decodes_when_the_decoder_is_killed(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)
    asked = Asked(pairs=noted(pairs, tmp_path, gate_open=False), cache_folder=cache)
    with ranks(asked) as (decoder,):
        wait_until(lambda: len(readers(tmp_path)) > 0)
        with ranks(asked, asked) as waiting:
            for rank in waiting:
                assert rank.says() == ("waiting", "waiting for another rank on this machine to decode")
            decoder.kill()
            wait_until(lambda: len(set(readers(tmp_path))) == 2)
            (tmp_path / "gate").touch()
            assert [has(rank) for rank in waiting] == [digests(pairs, cache)] * 2
            others = [reader for reader in readers(tmp_path) if reader != decoder.process.pid]
            assert len(others) == len(pairs)
            assert len(set(others)) == 1
            for rank in waiting:
                rank.leave()
    assert list(cache.iterdir()) == []


def test_a_full_disk_is_one_line_and_the_next_one_may_have_room(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)
    asked = Asked(pairs=noted(pairs, tmp_path, gate_open=False), cache_folder=cache, skip_unreadable=True)
    with ranks(replace(asked, largest_file=4096)) as (poor,):
        wait_until(lambda: len(readers(tmp_path)) > 0)
        with ranks(asked) as (waiting,):
            assert waiting.says()[0] == "waiting"
            (tmp_path / "gate").touch()
            word, line = poor.says()
            assert word == "refused"
            assert str(line).startswith(f"{cache}{os.sep}understudy-")
            assert str(line).endswith("cannot be written (File too large); free space or choose another place")
            assert has(waiting) == digests(pairs, cache)
            waiting.leave()
    assert list(cache.iterdir()) == []
    with ranks(replace(asked, largest_file=4096)) as (alone,):
        assert alone.says()[0] == "refused"
        alone.process.join()
        assert list(cache.iterdir()) == []


def test_every_rank_tells_of_a_damaged_frame_that_one_of_them_found(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path, damaged=1)
    with pytest.raises(Problems) as alone:
        digests(pairs, cache)
    asked = Asked(pairs=noted(pairs, tmp_path, gate_open=False), cache_folder=cache)
    with ranks(*[asked] * 3) as racing:
        wait_until(lambda: len(readers(tmp_path)) > 0)
        said = [rank.says() for rank in racing if rank.process.pid not in readers(tmp_path)]
        assert [word for word, _ in said] == ["waiting"] * 2
        (tmp_path / "gate").touch()
        assert [rank.says() for rank in racing] == [("refused", str(alone.value))] * 3
        assert len(readers(tmp_path)) == len(pairs)
        for rank in racing:
            rank.process.join()
    assert list(cache.iterdir()) == []


def test_every_rank_leaves_out_the_same_pairs_with_the_same_warnings(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path, damaged=1)
    asked = Asked(pairs=noted(pairs, tmp_path), cache_folder=cache, skip_unreadable=True)
    with ranks(asked) as (first,):
        said = [first.says() for _ in range(5)]
        assert [word for word, _ in said] == ["warning"] * 4 + ["has"]
        assert str(said[0][1]).endswith("(the pair is left out)")
        assert said[-1][1] == digests(pairs[1:], cache)
        with ranks(asked) as (second,):
            assert [second.says() for _ in range(5)] == said
            assert len(readers(tmp_path)) == len(pairs)


def test_one_key_for_different_questions_gives_each_its_own_answer(tmp_path: Path, cache: Path) -> None:
    asked = Asked(pairs=pairs_in(tmp_path, (1, 2)), cache_folder=cache)
    with ranks(
        asked,
        replace(asked, pairs=asked.pairs[:1]),
        replace(asked, crop_size=32),
        replace(asked, skip_unreadable=True),
        replace(asked, pairs=(asked.pairs[0], replace(asked.pairs[1], use="validation"))),
    ) as different:
        assert len({str(has(rank)) for rank in different}) == 3  # the windows hold either crop
        assert len(list(cache.iterdir())) == 5
        (before,) = asked.pairs[:1]
        write_plate(before.input.media.path, ramp(FORMAT, 3, 5) % 8)
        with ranks(asked) as (later,):
            assert has(later) == digests(asked.pairs, cache)


def test_what_killed_ranks_left_goes_when_another_run_starts(tmp_path: Path, cache: Path) -> None:
    asked = Asked(pairs=pairs_in(tmp_path), cache_folder=cache)
    with ranks(replace(asked, key="killed"), replace(asked, key="alive")) as (killed, alive):
        has(killed), has(alive)
        killed.kill()
        assert len(list(cache.iterdir())) == 2
        (cache / f"understudy-{os.getuid() + 1}-of-another").mkdir(mode=0o700)
        with ranks(replace(asked, key="next")) as (another,):
            has(another)
            names = sorted(path.name.partition("@")[2].rpartition("-")[0] for path in cache.iterdir())
            assert names == ["", "alive", "next"]


def shared(pairs: Sequence[Pair], cache: Path) -> Dataset:
    with decode_once_per_host(
        pairs, key="run", crop_size=16, cache_folder=cache, warn=lambda _: None, tell=pytest.fail
    ) as dataset:
        return dataset


def test_the_data_set_is_that_of_a_single_process_and_outlives_the_file(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)
    mapped = shared(pairs, cache)
    alone = decode(pairs, crop_size=16, memory_bytes=1 << 30, cache_folder=cache, warn=lambda _: None)
    assert list(cache.iterdir()) == []
    assert (mapped.input_channels, mapped.target_channels) == (alone.input_channels, alone.target_channels)
    for one, other in zip(mapped.pairs, alone.pairs, strict=True):
        assert one.pair is other.pair
        assert (one.window, one.facts) == (other.window, other.facts)
        assert (one.input.dtype, one.target.dtype) == (other.input.dtype, other.target.dtype)
        assert one.input.ctypes.data % ALIGNMENT == one.target.ctypes.data % ALIGNMENT == 0
        assert not one.input.flags.writeable
        np.testing.assert_array_equal(one.input, other.input)
        np.testing.assert_array_equal(one.target, other.target)
        np.testing.assert_equal(one.valid, other.valid)


@pytest.mark.parametrize("taken", ["frames", "index.json"])
def test_who_tidies_up_old_temporary_files_harms_nobody(tmp_path: Path, cache: Path, taken: str) -> None:
    pairs = pairs_in(tmp_path)
    expected = digests(pairs, cache)
    with decode_once_per_host(
        pairs, key="run", crop_size=16, cache_folder=cache, warn=lambda _: None, tell=pytest.fail
    ) as early:
        (folder,) = cache.iterdir()
        (folder / taken).unlink()
        late = shared(pairs, cache)
        assert pair_digests(early) == pair_digests(late) == expected
    assert list(cache.iterdir()) == []


def test_a_fault_of_ours_leaves_no_file(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path)

    def fail_while_using_it() -> None:
        with decode_once_per_host(
            pairs, key="run", crop_size=16, cache_folder=cache, warn=lambda _: None, tell=pytest.fail
        ):
            assert list(cache.iterdir())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_while_using_it()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("squat", ["folder open to others", "link to a folder", "link to nowhere", "file"])
def test_a_place_that_somebody_else_prepared_is_refused(tmp_path: Path, cache: Path, squat: str) -> None:
    pairs = pairs_in(tmp_path)
    with decode_once_per_host(
        pairs, key="run", crop_size=16, cache_folder=cache, warn=lambda _: None, tell=pytest.fail
    ):
        (folder,) = cache.iterdir()
    theirs = tmp_path / "theirs"
    if squat == "folder open to others":
        folder.mkdir()
        folder.chmod(0o755)
    elif squat == "file":
        folder.touch()
    else:
        folder.symlink_to(theirs)
        if squat == "link to a folder":
            theirs.mkdir(mode=0o700)
    with pytest.raises(UnderstudyError, match="is not a folder of this user alone; remove it"):
        shared(pairs, cache)
    assert not theirs.exists() or list(theirs.iterdir()) == []


def test_an_unwritable_cache_folder_is_named(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    place.touch()
    with pytest.raises(UnderstudyError, match="cache: a file is in the way of this folder"):
        shared(pairs_in(tmp_path), place)


def test_a_digest_names_pair_window_channels_and_changes_with_any_pixel(tmp_path: Path, cache: Path) -> None:
    pairs = pairs_in(tmp_path, (1, 2))
    before = digests([pairs[0], replace(pairs[1], use="validation")], cache)
    assert list(before) == ["frame 1 train", "frame 2 validation"]
    assert before["frame 1 train"].startswith("63x47+0+0 R,G,B -> R,G,B ")
    pixels = ramp(FORMAT, 3, 1) % 8
    pixels[46, 62, 2] += 1
    write_plate(tmp_path / "plate.1.exr", pixels)
    after = digests(pairs, cache)
    assert after["frame 1 train"] != before["frame 1 train"]
    assert after["frame 2 train"] == before["frame 2 validation"]
