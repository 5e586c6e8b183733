"""The garbage collector rests while libraries are imported, and works again whatever happens."""

from __future__ import annotations

import gc

import pytest

from understudy.importing import large_imports


@pytest.fixture(autouse=True)
def unfrozen() -> None:
    gc.unfreeze()


def test_what_is_imported_is_not_looked_through_again() -> None:
    with large_imports():
        assert not gc.isenabled()
        made: list[object] = []
    assert gc.isenabled()
    assert not any(one is made for one in gc.get_objects())
    with large_imports():  # a second time there is nothing to import
        assert gc.isenabled()


def test_a_library_that_fails_to_load_leaves_the_collector_at_work() -> None:
    with pytest.raises(ImportError), large_imports():
        raise ImportError("no such library")
    assert gc.isenabled()
    assert not gc.get_freeze_count()


def test_who_has_put_the_collector_to_rest_keeps_it_so() -> None:
    gc.disable()
    try:
        with large_imports():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
