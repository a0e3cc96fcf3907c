"""Thread blocks: the section of a schedule that says how the threads of a GPU's block compute a tile.

    contraction: S0 S1 | m/128p n/128vp | k/64 | warps=8 mma=m64n128k16 copy=tma depth=4
                                                 ^one key=value each

The device passes choose the values of missing keys. A key is a field of ``ThreadBlock`` with its form: to add a key,
add a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from math import prod
from typing import Any

from mlc.dialects.poly.schedule_error import ScheduleError


@dataclass(frozen=True)
class Form:
    """The form of a key's value: a pattern of its whole text, an example, and the functions that parse and print it."""

    pattern: str
    example: str
    parse: Callable[[str], Any] = str
    text: Callable[[Any], str] = str


def _key(form: Form) -> Any:
    return field(default=None, metadata={"form": form})


GRID = Form(
    r"[1-9][0-9]*(x[1-9][0-9]*)?", "2x4 or 8",
    lambda text: tuple(map(int, text.split("x"))), lambda value: "x".join(map(str, value)),
)  # fmt: skip
COUNT = Form(r"[1-9][0-9]?", "4", int)
NUMBER = Form(r"[1-9][0-9]{0,3}", "108", int)
FLAG = Form(r"", "", lambda _: True, lambda _: "")  # the key alone
COPY = Form(r"async|tma", "tma")
STORE = Form(r"threads", "threads")
SHAPE = Form(r"m[1-9][0-9]*n[1-9][0-9]*k[1-9][0-9]*", "m16n8k16")


@dataclass(frozen=True)
class ThreadBlock:
    """How the threads of a GPU's block compute a tile. The passes choose what is None.

    ``warps``: the number of warps that compute a tile, or (rows, columns) of warps. ``mma``: the shape of the tensor
    cores' instruction. ``copy``: how operands reach shared memory, ``async`` by all threads or ``tma`` by additional
    warps. ``store``: with ``copy=tma``, results are stored in bulk where possible, unless it is ``threads``. ``depth``:
    the number of buffers of a staged operand, of which all but one are in flight. ``cluster``: (rows, columns) of
    blocks with neighbouring tiles, which share what they copy. ``raster``: tiles are visited column by column within so
    many rows of tiles. ``persist``: only as many blocks as run at a time are launched, and take all tiles. ``streamk``:
    so many blocks share the steps of the tiles that do not fill a wave of so many blocks. ``pingpong``: twice as many
    warps, whose halves alternate, each with its own tile.
    """

    warps: tuple[int, ...] | None = _key(GRID)
    mma: str | None = _key(SHAPE)
    copy: str | None = _key(COPY)
    store: str | None = _key(STORE)
    depth: int | None = _key(COUNT)
    cluster: tuple[int, ...] | None = _key(GRID)
    raster: int | None = _key(COUNT)
    persist: bool | None = _key(FLAG)
    streamk: int | None = _key(NUMBER)
    pingpong: bool | None = _key(FLAG)

    def __post_init__(self) -> None:
        if any(n & (n - 1) for n in self.warps or ()):
            raise ScheduleError(f"block item 'warps={GRID.text(self.warps)}': numbers of warps are powers of two")
        if self.pingpong and not (self.copy == "tma" and self.persist):
            raise ScheduleError("block item 'pingpong': write 'copy=tma persist pingpong', blocks take several tiles")

    def threads(self, warp: int) -> int | None:
        """Return the number of threads of a block, for warps of ``warp`` threads; None if the schedule does not say
        it."""
        return prod(self.warps) * warp if self.warps else None

    def __str__(self) -> str:
        """Return the items that ``parse`` reads."""
        given = ((f, getattr(self, f.name)) for f in fields(self))
        return " ".join(_item(f.name, _form(f).text(value)) for f, value in given if value is not None)

    @classmethod
    def parse(cls, items: Sequence[str]) -> ThreadBlock:
        """Parse items; raise ScheduleError, which names the wrong item."""
        known, found = {f.name: _form(f) for f in fields(cls)}, dict[str, Any]()
        for item in items:
            key, _, value = item.partition("=")
            if key not in known:
                names = ", ".join(_item(k, form.example) for k, form in known.items())
                raise ScheduleError(f"block item {item!r} is not one of {names}")
            if key in found:
                raise ScheduleError(f"block item {item!r}: {key} is given twice")
            if not re.fullmatch(known[key].pattern, value) or item == f"{key}=":
                raise ScheduleError(f"block item {item!r}: write {_item(key, known[key].example)}")
            found[key] = known[key].parse(value)
        return cls(**found)


def _item(key: str, value: str) -> str:
    return f"{key}={value}" if value else key


def _form(of: Field[Any]) -> Form:
    form = of.metadata["form"]
    assert isinstance(form, Form)
    return form
