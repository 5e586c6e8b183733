"""Where glibc lays what a process asks for."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.core.train.shots import make_shot

from understudy.allocator import HEAP_BYTES

LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")

PLACES_FOR_LARGE_PAGES = """
import ctypes
from understudy.allocator import grow_in_large_pages, keep_blocks_of_a_step

keep_blocks_of_a_step()
grow_in_large_pages()
grow_in_large_pages()  # as a process does that trains twice
blocks = [ctypes.create_string_buffer(2**23) for _ in range(8)]
middles = [ctypes.addressof(block) + 2**22 for block in blocks]
places = set()
for line in open("/proc/self/smaps"):
    name, *rest = line.split()
    if "-" in name and not name.endswith(":"):
        begin, end = (int(word, 16) for word in name.split("-"))
    elif name == "VmFlags:" and "hg" in rest:
        places.update(middle for middle in middles if begin <= middle < end)
print(len(places))
"""


TRAINS = """
import sys
from understudy.cli.main import main

code = main(sys.argv[1:])
num_bytes = 0
for line in open("/proc/self/smaps"):
    name, *rest = line.split()
    if "-" in name and not name.endswith(":"):
        is_heap = rest[-1] == "[heap]"
        begin, end = (int(word, 16) for word in name.split("-"))
    elif name == "VmFlags:" and is_heap and "hg" in rest:
        num_bytes += end - begin
print(code, num_bytes)
"""

needs_large_pages = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not LARGE_PAGES.exists(), reason="no glibc, or a system without large pages"
)


@pytest.mark.hardware
@needs_large_pages
def test_a_training_asks_for_large_pages(tmp_path: Path) -> None:
    shot = make_shot(tmp_path)
    words = [sys.executable, "-c", TRAINS, *shot.train_words("--device", "cpu", steps=2)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    code, num_bytes = map(int, done.stdout.splitlines()[-1].split())
    assert code == 0
    assert num_bytes > HEAP_BYTES / 2


@pytest.mark.hardware
@needs_large_pages
def test_what_a_heap_is_filled_with_is_asked_for_in_large_pages() -> None:
    """Whether they are given is the system's matter: few may be free."""
    done = subprocess.run([sys.executable, "-c", PLACES_FOR_LARGE_PAGES], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 8
