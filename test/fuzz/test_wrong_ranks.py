"""One model of each operator whose inputs need not fit; `fuzz_ranks.py` imports as many as one likes."""

from __future__ import annotations

import secrets

from fuzz_ranks import problems


def test_errors_are_about_the_model() -> None:
    assert not list(problems(1, secrets.randbits(16)))
