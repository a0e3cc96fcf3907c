"""Reads, writes and gathers of register tiles as C statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlc.passes.codegen.c_types import Chunk, Layout, Tile, c_scalar, vector_name


def offset(base: str, leading: Sequence[int], chunk: Chunk, strides: Sequence[str]) -> str:
    """C expression of the element at ``leading`` and the chunk's first lane: base + Σ index·stride."""
    constant, terms = 0, [base]
    for i, stride in zip((*leading, chunk.start), strides, strict=True):
        if stride.isdigit():
            constant += i * int(stride)
        elif i:
            terms.append(f"{i} * {stride}")
    if constant:
        terms.append(str(constant))
    return " + ".join(terms)


def lanes_of(chunk: Chunk, lanes: str | None) -> str | None:
    """Number of lanes to touch, as C; None where that is all of them."""
    if lanes is not None:
        return f"mlc_clamp({lanes} - {chunk.start}, {chunk.width})"
    return None if chunk.valid == chunk.width else str(chunk.valid)


def read(pointer: str, at: str, layout: Layout, chunk: Chunk, stride: str, lanes: str | None) -> str:
    """C expression of one variable read at ``pointer[at]``."""
    memory = memory_element(layout.element)
    if chunk.width == 1:
        value = f"{pointer}[{at}]"
        return value if lanes is None else f"({lanes} > {chunk.start} ? {value} : 0)"
    name, n = f"{memory}x{chunk.width}", lanes_of(chunk, lanes)
    if stride == "1":
        value = f"mlc_load_{name}({pointer} + {at})" if n is None else f"mlc_load_n_{name}({pointer} + {at}, {n})"
    else:
        value = _lanes(name, chunk, n, lambda lane: f"{pointer}[{at} + {lane} * {stride}]")
    return _from_memory(value, layout.element, chunk)


def gather(pointer: str, offsets: str, layout: Layout, chunk: Chunk, lanes: str | None) -> str:
    """C expression of one variable read at the offsets in another."""
    if chunk.width == 1:
        value = f"{pointer}[{offsets}]"
        return value if lanes is None else f"({lanes} > {chunk.start} ? {value} : 0)"
    name = f"{memory_element(layout.element)}x{chunk.width}"
    value = _lanes(name, chunk, lanes_of(chunk, lanes), lambda lane: f"{pointer}[{offsets}[{lane}]]")
    return _from_memory(value, layout.element, chunk)


def _lanes(name: str, chunk: Chunk, n: str | None, element: Callable[[int], str]) -> str:
    """A vector literal, lane by lane; lanes beyond ``n`` are not read."""
    if n is not None and not n.isdigit():
        items = [f"{lane} < {n} ? {element(lane)} : 0" for lane in range(chunk.width)]
    else:
        items = [element(lane) for lane in range(chunk.width if n is None else int(n))]
    return f"({name}){{{', '.join(items)}}}"


def write(pointer: str, at: str, tile: Tile, value: str, chunk: Chunk, stride: str, lanes: str | None) -> str:
    """C statement that writes one variable to ``pointer[at]``."""
    if chunk.width == 1:
        store = f"{pointer}[{at}] = {value};"
        return store if lanes is None else f"if ({lanes} > {chunk.start}) {store}"
    name, n = f"{memory_element(tile.layout.element)}x{chunk.width}", lanes_of(chunk, lanes)
    value = _to_memory(value, tile.layout.element, chunk)
    if stride == "1":
        partial, count = ("", "") if n is None else ("n_", f", {n}")
        return f"mlc_store_{partial}{name}({pointer} + {at}, {value}{count});"
    loop = f"for (int64_t l_ = 0; l_ < {chunk.width if n is None else n}; l_++)"
    return f"{{ {name} lanes_ = {value}; {loop} {pointer}[{at} + l_ * {stride}] = lanes_[l_]; }}"


def memory_element(element: str) -> str:
    """Predicates are bytes in memory."""
    return {"i1": "i8", "bf16": "u16"}.get(element, element)


def pointer_type(element: str) -> str:
    """C type of a buffer's elements, signless as the vector types are."""
    return c_scalar("i8" if element == "i1" else element.replace("ui", "i"))


def _from_memory(value: str, element: str, chunk: Chunk) -> str:
    return f"(__builtin_convertvector({value}, i32x{chunk.width}) != 0)" if element == "i1" else value


def _to_memory(value: str, element: str, chunk: Chunk) -> str:
    return f"__builtin_convertvector(-{value}, {vector_name('i8', chunk.width)})" if element == "i1" else value
