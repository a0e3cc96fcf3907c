"""User schedules (``apply-schedules``): schedules given by the user replace those that rules would choose.

contract_0: contraction: S0 S1 | n/32v m/8 | k     # a line of the text
  →   kernel.func @contract_0(…) attributes {
        origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 S1 | n/32v m/8 | k">}
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleAttr, ScheduleError
from mlc.errors import InputError
from mlc.passes.schedule.gpu.part_numbers import PARTS_SUFFIX


@dataclass(frozen=True)
class ApplySchedules(ModulePass):
    """Set the schedules of a text. ``text`` has lines ``kernel: schedule``; ``#`` begins a comment. Rules choose
    schedules for kernels without a line."""

    name = "apply-schedules"
    text: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        for number, name, text in lines(self.text):
            _apply(name, text, number, kernels)


def lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number, kernel and schedule of each line of a text."""
    for number, line in enumerate(text.splitlines(), 1):
        if line := line.partition("#")[0].strip():
            name, _, schedule = (part.strip() for part in line.partition(":"))
            yield number, name, schedule


def _apply(name: str, text: str, number: int, kernels: dict[str, kernel.FuncOp]) -> None:
    if name not in kernels:
        whole = name.removesuffix(PARTS_SUFFIX) in kernels
        hint = "Its sum is whole: begin the band with a number of parts, as part@8" if whole else None
        raise line_error(number, f"there is no kernel '{name}'", hint or f"Kernels are {', '.join(kernels)}")
    fn = kernels[name]
    if fn.origin.line not in (None, number):
        raise line_error(number, f"kernel '{name}' has a schedule already", "Give each kernel one line")
    fn.origin = replace(fn.origin, line=number, tuned=False)
    with following(fn):
        fn.schedule = ScheduleAttr.parsed(text)


@contextmanager
def following(fn: kernel.FuncOp) -> Iterator[None]:
    """Context manager for passes that apply a schedule: an error about a schedule that no rule chose names where the
    schedule is from."""
    try:
        yield
    except ScheduleError as error:
        if fn.origin.tuned:
            hint = "Delete the tuned schedules ('mlc cache clear --tuned'), or ignore them (--no-tuned)"
            raise InputError(f"A tuned schedule: {error}", stage="schedule", hint=hint) from error
        if fn.origin.line is None:
            raise
        raise line_error(fn.origin.line, f"kernel '{fn.sym_name.data}': {error}") from error


CHOSEN = "'mlc inspect --schedules' prints the chosen schedules"


def line_error(line: int, message: str, hint: str = CHOSEN) -> InputError:
    """Return an error about a line of the text."""
    return InputError(f"Line {line} of the schedules: {message}", stage="schedule", hint=hint)
