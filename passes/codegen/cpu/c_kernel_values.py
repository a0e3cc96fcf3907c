"""The values of a kernel in C: a vector variable for each register of a tile, or an inlined expression."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects import vector
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.passes.codegen.c_like import c_reduce
from mlc.passes.codegen.c_like.c_inline import inlines
from mlc.passes.codegen.c_like.c_text import KernelText
from mlc.passes.codegen.c_like.c_types import Chunk, CTile, layout, vector_name


@dataclass
class CKernelValues(KernelText, ABC):
    """A printer that declares the variables of values, which ``env`` names, and prints operations that move or combine
    lanes of registers."""

    team: ClassVar[tuple[str, str]] = ("tid", "threads")

    lanes: int = 0
    env: dict[SSAValue, CTile] = field(default_factory=dict)

    def scalar(self, value: SSAValue) -> str:
        return self.env[value].names[0]

    def define(self, value: SSAValue, strings: Sequence[str]) -> None:
        """Declare the variables of ``value``. An inlined value gets no variable, but its expression as its name."""
        if inlines(value):
            self.alias(value, [f"({t})" for t in strings])
            return
        shape, base, names = layout(value.type, self.lanes), self.name(), []
        for n, ((_, c), text) in enumerate(zip(shape.positions(), strings, strict=True)):
            names.append(base if len(strings) == 1 else f"{base}_{n}")
            self.line(f"{shape.c_type(shape.chunks[c])} {names[-1]} = {text};")
        self.env[value] = CTile(shape, tuple(names))

    def name_scalar(self, value: SSAValue, text: str) -> None:
        self.alias(value, [text])

    def alias(self, value: SSAValue, strings: Sequence[str]) -> None:
        self.env[value] = CTile(layout(value.type, self.lanes), tuple(strings))

    def broadcast(self, op: vector.BroadcastOp) -> None:
        source, target = self.env[op.source], layout(op.vector.type, self.lanes)
        rank = len(target.shape)
        padded = (1,) * (rank - len(source.layout.shape)) + source.layout.shape
        same = padded[-1] == target.shape[-1]
        filled: dict[tuple[str, int], str] = {}
        strings = []
        for leading, c in target.positions():
            inner = leading[rank - len(source.layout.shape) :]
            text = source.at(inner, c if same else 0)
            if not same:
                text = self.fill(text, target.element, target.chunks[c], filled)
            strings.append(text)
        self.alias(op.vector, strings)

    def fill(self, text: str, name: str, chunk: Chunk, filled: dict[tuple[str, int], str]) -> str:
        """Return a vector variable with ``text`` in each lane, declared once. A read is not shared, because rows are
        loaded when they are used."""
        if chunk.width == 1:
            return text
        if text.startswith("("):
            return f"mlc_fill_{vector_name(name, chunk.width)}{text}"
        key = (text, chunk.width)
        if key not in filled:
            filled[key] = self.name()
            type_ = vector_name(name, chunk.width)
            value = f"-(int32_t){text}" if name == "i1" else text
            self.line(f"{type_} {filled[key]} = mlc_fill_{type_}({value});")
        return filled[key]

    def step(self, op: kernel.StepOp) -> None:
        shape = layout(op.result.type, self.lanes)
        strings = []
        for leading, c in shape.positions():
            chunk = shape.chunks[c]
            if chunk.width == 1:
                strings.append(str(sum(leading)))
            else:
                lanes = ", ".join(str(chunk.start + n) for n in range(chunk.width))
                strings.append(f"({shape.c_type(chunk)}){{{lanes}}}")
        self.define(op.result, strings)

    def reduction(self, op: vector.ReductionOp) -> None:
        self.define(op.dest, [c_reduce.reduction(op.kind.data.value, self.env[op.vector])])

    def multi_reduction(self, op: kernel.MultiReductionOp) -> None:
        """Print the rows of each vector of the result, combined lane by lane if the vectors can exchange lanes."""
        kind, tile, target = op.kind.data.value, self.env[op.source], layout(op.result.type, self.lanes)
        results = []
        for leading, c in target.positions():
            chunk = target.chunks[c]
            rows = [(*leading, n) for n in range(chunk.start, chunk.start + chunk.valid)]
            if vectors := c_reduce.row_vectors(kind, tile, rows, chunk):
                results.append(self.combined_rows(kind, vectors, target.element, chunk))
                continue
            lanes = ", ".join(c_reduce.reduction(kind, c_reduce.row(tile, at)) for at in rows)
            results.append(f"({target.c_type(chunk)}){{{lanes}}}" if chunk.width > 1 else lanes)
        self.define(op.result, results)

    def combined_rows(self, kind: str, rows: Sequence[str], name: str, chunk: Chunk) -> str:
        """Return a variable whose lane i combines the lanes of ``rows[i]``. Pairs of rows exchange lanes, for half of
        the rows at a time, in the order of a reduction of one vector."""
        type_, vectors = vector_name(name, chunk.width), self.name()
        self.line(f"{type_} {vectors}[{chunk.width}] = {{{', '.join(rows)}}};")
        half = chunk.width // 2
        while half:
            for n in range(half):
                pair = f"{vectors}[{n}]", f"{vectors}[{n + half}]"
                text = c_reduce.combined(kind, pair, name, Chunk(0, chunk.width, chunk.width))
                self.line(f"mlc_exchange_{half}_{type_}({vectors} + {n}); {pair[0]} = {text};")
            half //= 2
        return f"{vectors}[0]"
