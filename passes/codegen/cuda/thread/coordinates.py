"""Coordinates of a thread's elements as C expressions: the thread's part is a variable, and a register adds a
constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.passes.codegen.cuda.thread.thread_part import ThreadPart

THREAD = "thread"  # the variable of a thread's number among those that have a tile
GROUP = "group"  # that of the number of such threads in the block, where each has tiles of its own


@dataclass
class Coordinates:
    """The variables of the thread's part of each axis of each distribution, each declared once at the head of a
    kernel."""

    declare: Callable[[str, str], None]  # a variable and its value
    known: dict[tuple[LinearLayout, int, str], str] = field(default_factory=dict)

    def at(self, part: ThreadPart, axis: int, register: int) -> str:
        """Return the coordinate of a register's element along an axis of its class."""
        variable, constant = self.terms(part, axis, register)
        if variable == "0" or not constant:
            return variable if not constant else str(constant)
        return f"({variable} + {constant})"

    def terms(self, part: ThreadPart, axis: int, register: int) -> tuple[str, int]:
        """Return the coordinate as a sum: a variable that depends on the thread, which registers share, and a
        constant."""
        assert part.layout is not None
        constant, variable = self.constant(part, axis, register), self._variable(part.layout, axis)
        return moved(variable, constant, _image(part.layout, axis))

    def constant(self, part: ThreadPart, axis: int, register: int) -> int:
        assert part.layout is not None
        return part.layout(register=register)[axis]

    def thread_variable(self, layout: LinearLayout, axis: int) -> str:
        """Return the coordinate that a layout of (lane, warp) gives a thread."""
        return self._variable(layout, axis)

    def moved(self, layout: LinearLayout, axis: int, constant: int) -> tuple[str, int]:
        """Return the exclusive or of the coordinate that a layout gives a thread and a constant, as a sum of a variable
        and a constant."""
        return moved(self._variable(layout, axis), constant, _image(layout, axis))

    def warp_variable(self, layout: LinearLayout, axis: int) -> str:
        """Return the coordinate that a layout gives all lanes of a warp, in a uniform register."""
        return self._variable(layout, axis, "mlc_uniform({})")

    def _variable(self, layout: LinearLayout, axis: int, form: str = "{}") -> str:
        if (layout, axis, form) not in self.known:
            text = _expression(layout, axis)
            name = f"t{len(self.known)}" if text != "0" else "0"
            if text != "0":
                self.declare(name, form.format(text))
            self.known[layout, axis, form] = name
        return self.known[layout, axis, form]


def moved(variable: str, constant: int, image: int) -> tuple[str, int]:
    """Return the exclusive or of a constant and a variable that has the bits ``image``, as a sum: bits that the
    variable does not have are added."""
    shared = constant & image if variable != "0" else 0
    return (f"({variable} ^ {shared})" if shared else variable), constant ^ shared


def _thread_bases(layout: LinearLayout, axis: int) -> list[int]:
    """Return what each bit of a thread's number adds to a coordinate."""
    return [basis[axis] for name in ("lane", "warp") for basis in layout.of_input(name)]


def _image(layout: LinearLayout, axis: int) -> int:
    total = 0
    for basis in _thread_bases(layout, axis):
        total |= basis
    return total


def _expression(layout: LinearLayout, axis: int) -> str:
    """Return the exclusive or of the thread's bases; runs of bits that are shifted alike are one term."""
    terms: list[tuple[int, int, int]] = []  # first bit, number of bits, basis of the first
    for bit, basis in enumerate(_thread_bases(layout, axis)):
        if not basis:
            continue
        if terms and terms[-1][0] + terms[-1][1] == bit and terms[-1][2] << terms[-1][1] == basis and _single(basis):
            terms[-1] = (terms[-1][0], terms[-1][1] + 1, terms[-1][2])
        else:
            terms.append((bit, 1, basis))
    return " ^ ".join(f"({THREAD} >> {first} & {(1 << count) - 1}) * {basis}" for first, count, basis in terms) or "0"


def _single(basis: int) -> bool:
    return basis & (basis - 1) == 0
