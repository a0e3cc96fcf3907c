"""The tables of kernels say where a schedule comes from."""

from __future__ import annotations

from mlc.tools.kernel_profile import schedule_of


def test_schedules_that_no_rule_chose() -> None:
    rule = {"schedule": "rows: S0 | m | n"}
    assert schedule_of(rule) == "rows: S0 | m | n"
    assert schedule_of(rule | {"tuned": True}) == "rows: S0 | m | n  # tuned"
    assert schedule_of({"schedule": "serial: S0 | m |", "plain": "too large"}) == "serial: S0 | m |  # plain: too large"
