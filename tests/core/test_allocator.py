"""Where glibc lays what a process asks for."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.hardware
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators cannot be told")
@pytest.mark.skipif(not LARGE_PAGES.exists(), reason="a system without large pages")
def test_what_a_heap_grows_by_is_asked_for_in_large_pages() -> None:
    """Whether they are given is the system's matter: few may be free."""
    done = subprocess.run([sys.executable, "-c", PLACES_FOR_LARGE_PAGES], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 8
