"""Where glibc lays what a process asks for."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")

SHARE_IN_LARGE_PAGES = """
import ctypes
from understudy.allocator import grow_in_large_pages, keep_blocks_of_a_step

keep_blocks_of_a_step()
grow_in_large_pages()
grow_in_large_pages()  # as a process does that trains twice
blocks = [ctypes.create_string_buffer(b"x" * 2**23) for _ in range(8)]
addresses = [ctypes.addressof(block) for block in blocks]
asked_for = found = 0
lies_here = False
for line in open("/proc/self/smaps"):
    name, *rest = line.split()
    if "-" in name and not name.endswith(":"):
        begin, end = (int(word, 16) for word in name.split("-"))
        lies_here = any(begin <= address < end for address in addresses)
    elif name == "VmFlags:" and lies_here:
        asked_for += "hg" in rest
    elif name == "AnonHugePages:" and lies_here:
        found += int(rest[0]) * 1024
print(asked_for, found / sum(map(len, blocks)))
"""


@pytest.mark.hardware
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators cannot be told")
@pytest.mark.skipif(
    not LARGE_PAGES.exists() or "[never]" in LARGE_PAGES.read_text(), reason="no large pages for whoever asks"
)
def test_what_a_heap_grows_by_lies_in_large_pages() -> None:
    done = subprocess.run([sys.executable, "-c", SHARE_IN_LARGE_PAGES], capture_output=True, text=True, check=True)
    places, share = done.stdout.split()
    assert int(places) == 1
    assert float(share) > 0.5, "the system may have few free"
