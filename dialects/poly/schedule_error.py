"""Errors about schedules."""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException


class ScheduleError(VerifyException):
    """An error: a schedule cannot be parsed, or cannot be applied to a kernel."""
