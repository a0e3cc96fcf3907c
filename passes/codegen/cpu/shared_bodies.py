"""Shared bodies: kernels whose C differs in numbers alone are one function, which takes these numbers as arguments.

    void k_1(…) { … i * 576 … x * 0.5f … }       static void k_3(…, const int64_t *n, const float *f) {
    void k_2(…) { … i * 288 … x * 0.3f … }   →     … i * mlc_n0 … x * mlc_f0 … }
                                                 void k_1(…) { static const int64_t n[] = {576}; … k_3(…, n, f); }
                                                 void k_2(…) { static const int64_t n[] = {288}; … k_3(…, n, f); }

The layers of a network repeat each other with other extents, strides and scales, and the C compiler's time grows with
the lines that it is given. Numbers that cost time where the compiler does not know them stay in the text: divisors
in innermost loops; and kernels stay apart where more offsets in such loops would be variables than have registers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

SHORT = 40  # lines of a kernel that is not worth a call
OFFSETS = 3  # in innermost loops, each of which takes a register
HEAD = "(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads"
INNER = "\n    for ("  # of a loop in the parallel one
NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d+(?:e[+-]?\d+)?f?|\d+e[+-]?\d+f?|\d+)(?![\w.])")
INDEX = re.compile(r"\s*(?:(?:const )?int64_t \w+ = |for \(int64_t )")
ADDRESS = re.compile(r"\bb\d+(?:\[[^\]]*\]|(?: \+ \w+(?: \* \w+)*)+)")
FILL = re.compile(r"mlc_fill_[iu]\d+x\d+\(-?\d+\)")
FLOATS = re.compile(r"\s*\w+ \w+ = [^/]*$")
DIVIDES = re.compile(r"[/%]|div|rem")
TYPES = {"n": "int64_t", "f": "float", "d": "double"}


@dataclass(frozen=True, slots=True)
class Number:
    """A literal that may become an argument: where it is, and whether it is an offset in an innermost loop."""

    start: int
    text: str
    offset: bool

    @property
    def kind(self) -> str:
        """The letter of its table."""
        return "n" if self.text.isdigit() else "f" if self.text.endswith("f") else "d"


@dataclass(frozen=True)
class Kernel:
    """The C function ``symbol``, with KERNEL in position of its name."""

    symbol: str
    text: str

    @cached_property
    def numbers(self) -> list[Number]:
        """The literals that may become arguments, in order."""
        return list(_numbers(self.text))

    @cached_property
    def key(self) -> str:
        """The text without these."""
        parts, end = [], 0
        for number in self.numbers:
            parts.append(self.text[end : number.start])
            end = number.start + len(number.text)
        return f"#{''.join(number.kind for number in self.numbers)}#".join([*parts, self.text[end:]])


def shared_bodies(strings: Mapping[str, str]) -> dict[str, str]:
    """``strings``, symbol -> C text, with the functions of kernels that share a body under the first one's symbol."""
    long = [(symbol, text) for symbol, text in strings.items() if text.count("\n") >= SHORT]
    kernels = [Kernel(symbol, text.replace(symbol, "KERNEL", 1)) for symbol, text in long]
    made = dict(strings)
    for alike in _groups(kernels, lambda kernel: NUMBER.sub("#", kernel.text)):  # which is soon found
        for group in _groups(alike, lambda kernel: kernel.key) if len(alike) > 1 else ():
            columns = _columns(group)
            if len(group) > 1 and _is_cheap(group[0], columns):
                made |= dict.fromkeys((kernel.symbol for kernel in group), "")
                made[group[0].symbol] = _shared(group, columns)
    return {symbol: text for symbol, text in made.items() if text}


def _groups(kernels: Sequence[Kernel], key: Callable[[Kernel], str]) -> list[list[Kernel]]:
    """Kernels of equal keys, in order."""
    groups: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        groups.setdefault(key(kernel), []).append(kernel)
    return list(groups.values())


def _numbers(text: str) -> Iterator[Number]:
    """The literals of a kernel that may become arguments."""
    start, loops, innermost = 0, 0, 2 if INNER in text else 1
    for line in text.splitlines(keepends=True):
        inner = loops >= innermost
        if not (inner and DIVIDES.search(line)):
            for number, is_offset in _of_line(line):
                yield Number(start + number.start(), number[0], inner and is_offset)
        loops += line.count("{\n") - (line.strip() == "}")
        loops -= line.startswith("void ")
        start += len(line)


def _of_line(line: str) -> Iterator[tuple[re.Match[str], bool]]:
    """The literals of a line that may become variables, and whether each is added to an address: of index computations
    all, else floats that are not divided by, offsets, and integers that fill a vector."""
    numbers = list(NUMBER.finditer(line))
    if not numbers or "static" in line or "{" in line and not line.endswith("{\n"):
        return
    index, floats = INDEX.match(line), FLOATS.match(line) and "pow" not in line
    addresses = [m.span() for m in ADDRESS.finditer(line)]
    fills = [] if DIVIDES.search(line) else [m.span() for m in FILL.finditer(line)]
    for number in numbers:
        inside = _is_inside(number, addresses)
        integer = number[0].isdigit() and int(number[0]) < 1 << 63
        if integer and (index or inside or _is_inside(number, fills)) or not number[0].isdigit() and floats:
            yield number, inside or line.endswith("+ ", 0, number.start())


def _is_inside(number: re.Match[str], spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= number.start() < end for start, end in spans)


def _columns(group: Sequence[Kernel]) -> dict[tuple[str, ...], list[int]]:
    """The numbers of all kernels at each position where they differ -> the positions."""
    columns: dict[tuple[str, ...], list[int]] = {}
    for position, numbers in enumerate(zip(*(kernel.numbers for kernel in group), strict=True)):
        literals = tuple(number.text for number in numbers)
        if len(set(literals)) > 1:
            columns.setdefault(literals, []).append(position)
    return columns


def _is_cheap(kernel: Kernel, columns: Mapping[tuple[str, ...], Sequence[int]]) -> bool:
    """Whether innermost loops have registers for the offsets that become variables: a body without loops has none."""
    offsets = sum(any(kernel.numbers[n].offset for n in positions) for positions in columns.values())
    return offsets <= (OFFSETS if INNER in kernel.text else 0)


def _shared(group: Sequence[Kernel], columns: Mapping[tuple[str, ...], Sequence[int]]) -> str:
    """The body of a group and a function for each of its kernels."""
    names: dict[int, str] = {}
    tables: dict[str, list[tuple[str, ...]]] = {}
    for literals, positions in columns.items():
        kind = group[0].numbers[positions[0]].kind
        table = tables.setdefault(kind, [])
        names |= {position: f"mlc_{kind}{len(table)}" for position in positions}
        table.append(literals)
    body = _with_names(group[0], names, {kind: len(table) for kind, table in tables.items()})
    symbol = f"k_{hashlib.sha256(body.encode()).hexdigest()[:16]}"
    return "\n".join([body.replace("KERNEL", symbol, 1), *(_caller(k, n, symbol, tables) for n, k in enumerate(group))])


def _with_names(kernel: Kernel, names: Mapping[int, str], sizes: Mapping[str, int]) -> str:
    """The body: a kernel that reads some of its numbers from tables."""
    text = kernel.text
    for position in sorted(names, reverse=True):
        number = kernel.numbers[position]
        text = text[: number.start] + names[position] + text[number.start + len(number.text) :]
    head, rest = text.split("\n", 1)
    assert head == f"void KERNEL{HEAD}) {{"
    tables = "".join(f", const {TYPES[kind]} *mlc_{kind}" for kind in sizes)
    read = [(kind, n) for kind, size in sizes.items() for n in range(size)]
    reads = [f"  const {TYPES[kind]} mlc_{kind}{n} = mlc_{kind}[{n}];\n" for kind, n in read]
    return f"static __attribute__((noinline)) void KERNEL{HEAD}{tables}) {{\n{''.join(reads)}{rest}"


def _caller(kernel: Kernel, position: int, body: str, tables: Mapping[str, Sequence[tuple[str, ...]]]) -> str:
    """The function of one kernel: it calls the body with its numbers."""
    rows = (
        f"{TYPES[kind]} mlc_{kind}[] = {{{', '.join(t[position] for t in table)}}};" for kind, table in tables.items()
    )
    values = "".join(f"  static const {row}\n" for row in rows)
    arguments = ", ".join(["buf", "dim", "tid", "threads", *(f"mlc_{kind}" for kind in tables)])
    return f"void {kernel.symbol}{HEAD}) {{\n{values}  {body}({arguments});\n}}\n"
