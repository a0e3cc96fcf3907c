"""Unknown keyword arguments are errors that name the known ones."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import mlc
from mlc.errors import InputError
from mlc.keywords import keywords_checked


def other(threads: int = 1, *, tuned: bool = True) -> None: ...


@keywords_checked(other)
def called(f: Any, *, seed: int = 0, **options: Any) -> Any:
    """Its own documentation."""
    return f, seed, options


def test_known_options_pass() -> None:
    assert called(1, seed=2, threads=3) == (1, 2, {"threads": 3}) and called(f=1) == (1, 0, {})
    assert called.__doc__ == "Its own documentation." and list(inspect.signature(called).parameters)[:2] == [
        "f",
        "seed",
    ]


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InputError, match=r"^called has no option 'epochs'. Options: seed, threads, tuned.$"):
        called(1, epochs=3)
    with pytest.raises(InputError, match=r"called has no option 'thread'. Did you mean 'threads'\? Options: seed"):
        called(1, thread=3)


def test_options_of_jit() -> None:
    with pytest.raises(
        InputError, match=r"jit has no option 'donte'. Did you mean 'donate'\? Options: static, .*peak_"
    ):
        mlc.jit(lambda x: x, donte="x")
