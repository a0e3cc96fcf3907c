"""The records of what passes know about a kernel and its loops. Each record is one typed property with a textual
form.

``launch = #kernel.launch<computing = 256, launched = 384, grid = "3*n", cluster = [2, 1]>``. A record is a frozen
dataclass. A field is a number, a dimension expression, a string, a list of numbers, or a flag, which is present or not.
The text leaves out fields with their defaults. A kernel without the property has the record of all defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.dims import Dim, DimLike, parse_dim


@dataclass(frozen=True)
class Launch:
    """How blocks of a GPU run a kernel. ``distribute-values`` and ``set-launch-geometry`` write it.

    ``computing``: the threads that compute a tile; ``launched``: all threads of a block, including those that compute
    other tiles and those that copy. ``grid``: the blocks of a launch; ``resident``: the blocks that a multiprocessor
    runs at a time, at least; ``cluster``: the rows and columns of tiles whose blocks may access each other's shared
    memory. ``shared``: the bytes of shared memory of a block; ``dynamic``: the bytes that the launch requests, if a
    block has fewer by default. ``aligned``: the numbers of the arguments that are aligned so that a thread can copy
    several elements at a time.
    """

    computing: int | None = None
    launched: int | None = None
    grid: DimLike | None = None
    resident: int | None = None
    cluster: tuple[int, int] = (1, 1)
    shared: int | None = None
    dynamic: int = 0
    aligned: tuple[int, ...] = ()

    def check(self) -> None:
        if (self.computing or 0) > (self.launched or self.computing or 0):
            raise VerifyException(f"{self.computing} threads compute, but only {self.launched} are launched")
        if self.dynamic > (self.shared or 0):
            raise VerifyException(f"{self.dynamic} bytes of shared memory are dynamic, of {self.shared or 0}")
        if len(self.cluster) != 2 or min(self.cluster) < 1:
            raise VerifyException(f"a cluster has rows and columns, each at least 1, not {[*self.cluster]}")
        if isinstance(self.grid, int) and self.grid < 1:
            raise VerifyException(f"a grid of {self.grid} blocks; a launch has at least one")


@dataclass(frozen=True)
class Origin:
    """The origin of a kernel's schedule: a ``line`` of the user's text, ``tuned`` schedules, or a rule.

    ``plain``: why the plain schedule has replaced the rule's schedule. ``digest``: the kernel's key in tuned schedules.
    """

    line: int | None = None
    tuned: bool = False
    plain: str | None = None
    digest: str | None = None

    @property
    def given(self) -> bool:
        """Whether the user or the tuner gave the schedule, which is then applied unchanged or refused."""
        return self.line is not None or self.tuned

    def check(self) -> None:
        if (self.line is not None) + self.tuned + (self.plain is not None) > 1:
            raise VerifyException("a schedule has one origin: a line of the user's, the tuner, or a rule that gave up")


@dataclass(frozen=True)
class Fusion:
    """What the fuse stage has decided of a kernel with several products (``form-kernels``). The schedule obeys it, or
    says why it cannot.

    ``form``: ``attention`` or ``chain``. ``streamed``: blocks of the reduction run one after another, so that matrices
    of scores are never whole. ``parts``: in how many parts different thread blocks compute the reduction. ``refused``:
    why the schedule has not done what was decided.
    """

    form: str | None = None
    streamed: bool = False
    parts: DimLike | None = None
    refused: str | None = None

    def check(self) -> None:
        if self.form not in (None, "attention", "chain"):
            raise VerifyException(f"a kernel of the form '{self.form}'; the forms are attention and chain")
        if (self.streamed or self.parts is not None) and self.form is None:
            raise VerifyException("a kernel without a form is streamed, or has parts; name its form")
        if isinstance(self.parts, int) and self.parts < 1:
            raise VerifyException(f"a reduction has {self.parts} parts; it has at least one")


@dataclass(frozen=True)
class Work:
    """The number of scalar operations of a kernel, and the fewest bytes that it moves (``count-work``)."""

    flops: DimLike | None = None
    bytes: DimLike | None = None

    def check(self) -> None:
        for name, number in (("operations", self.flops), ("bytes", self.bytes)):
            if isinstance(number, int) and number < 0:
                raise VerifyException(f"a kernel has {number} {name}; the number is 0 or more")


@dataclass(frozen=True)
class Scratch:
    """The last arguments of a kernel that are not tensors of the graph: ``arrays`` in the arena, with a row for each of
    at most ``rows`` blocks (``spill-locals``), and ``semaphores``, which are 0 before the first launch and after each
    (``stream-k``)."""

    arrays: int = 0
    rows: int | None = None
    semaphores: int = 0

    def check(self) -> None:
        if (self.rows is None) != (self.arrays == 0):
            raise VerifyException(f"{self.arrays} scratch arrays with {self.rows} rows: both or none")


@dataclass(frozen=True)
class Loop:
    """What passes say about one loop. ``staged``: the number of steps that are staged in shared memory together, if the
    schedule gives it; ``unroll``: whether the C compiler unrolls the loop."""

    staged: int | None = None
    unroll: bool = False

    def check(self) -> None:
        if self.staged is not None and self.staged < 1:
            raise VerifyException(f"{self.staged} steps are staged together; at least one is")


Record = Launch | Origin | Fusion | Work | Scratch | Loop
R = TypeVar("R", bound=Record)


class RecordAttr(Data[R]):
    """A record as an attribute. A subclass names the record's class."""

    record: ClassVar[type[Any]]

    def verify(self) -> None:
        self.data.check()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> R:
        kinds = {field.name: str(field.type) for field in fields(cls.record)}
        with parser.in_angle_brackets():
            pairs = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_field(parser, kinds))
        return cls.record(**dict(pairs))

    def print_parameter(self, printer: Printer) -> None:
        changed = [f.name for f in fields(self.data) if getattr(self.data, f.name) != f.default]
        with printer.in_angle_brackets():
            printer.print_list(changed, lambda name: _print_field(printer, name, getattr(self.data, name)))


def _parse_field(parser: AttrParser, kinds: dict[str, str]) -> tuple[str, Any]:
    name = parser.parse_identifier()
    if name not in kinds:
        parser.raise_error(f"unknown field '{name}'; the fields are {', '.join(kinds)}")
    kind = kinds[name]
    if kind == "bool":
        return name, True
    parser.parse_punctuation("=")
    if kind.startswith("tuple"):
        return name, tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))
    if kind.startswith("str"):
        return name, parser.parse_str_literal()
    text = parser.parse_optional_str_literal() if kind.startswith("DimLike") else None
    return name, parser.parse_integer() if text is None else parse_dim(text)


def _print_field(printer: Printer, name: str, value: bool | int | Dim | str | Sequence[int]) -> None:
    printer.print_string(name)
    if value is True:
        return
    printer.print_string(" = ")
    if isinstance(value, int):
        printer.print_string(str(value))
    elif isinstance(value, Dim | str):
        printer.print_string_literal(str(value))
    else:
        printer.print_string(f"[{', '.join(map(str, value))}]")


@irdl_attr_definition
class LaunchAttr(RecordAttr[Launch]):
    """``#kernel.launch<computing = 256, launched = 256, grid = "3*n", resident = 2, shared = 4352>``"""

    name = "kernel.launch"
    record = Launch


@irdl_attr_definition
class OriginAttr(RecordAttr[Origin]):
    """``#kernel.origin<line = 3, digest = "63b3446f…">``"""

    name = "kernel.origin"
    record = Origin


@irdl_attr_definition
class FusionAttr(RecordAttr[Fusion]):
    """``#kernel.fusion<form = "attention", streamed, parts = 8>``"""

    name = "kernel.fusion"
    record = Fusion


@irdl_attr_definition
class WorkAttr(RecordAttr[Work]):
    """``#kernel.work<flops = "2*n", bytes = 3904>``"""

    name = "kernel.work"
    record = Work


@irdl_attr_definition
class ScratchAttr(RecordAttr[Scratch]):
    """``#kernel.scratch<arrays = 1, rows = 864>``"""

    name = "kernel.scratch"
    record = Scratch


@irdl_attr_definition
class LoopAttr(RecordAttr[Loop]):
    """``#kernel.loop<staged = 32>``"""

    name = "kernel.loop"
    record = Loop
