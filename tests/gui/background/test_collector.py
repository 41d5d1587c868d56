"""Nothing is collected while models are opened, and what was made then counts as old."""

from __future__ import annotations

import gc

import pytest

from gui.background.collector import uncollected


def test_it_collects_again_after_the_last_of_several() -> None:
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_it_too() -> None:
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()


def test_what_was_made_meanwhile_is_old() -> None:
    with uncollected():
        made = [[] for _ in range(100)]  # type: ignore[var-annotated]
    old = set(map(id, gc.get_objects(generation=2)))
    assert old.issuperset(map(id, made))
    assert gc.get_freeze_count() == 0
