"""Reads, writes and gathers of register tiles as C statements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from mlc.dialects.types import is_narrow
from mlc.passes.codegen.c_like.c_types import TRANSPOSABLE, Chunk, CTile, Layout, c_scalar, vector_name

_LOADS = {"1": "mlc_load", "2": "mlc_load_every_2", "3": "mlc_load_every_3", "4": "mlc_load_every_4"}  # by stride


def clamped(leading: Sequence[int], valid: Mapping[int, str]) -> list[int | str]:
    """Return the indices of a point of leading axes, where indices beyond the valid ones are those of the last valid
    one: a read then needs no branch, and its result there is not used."""
    return [f"{valid[n]}_{i}" if i and n in valid else i for n, i in enumerate(leading)]


def clamped_rows(points: str, count: int) -> Iterator[str]:
    """Yield the declarations of the indices of ``count`` rows, of which the first ``points`` are valid."""
    for i in range(1, count):
        yield f"const int64_t {points}_{i} = mlc_minimum_i64({i}, {points} - 1);"


def inside(leading: Sequence[int], valid: Mapping[int, str]) -> str:
    """Return the C condition that a point of the leading axes is valid. Index 0 is always valid, so it needs no
    condition; the text is empty if no index needs one."""
    return " && ".join(f"{i} < {valid[n]}" for n, i in enumerate(leading) if i and n in valid)


def guarded(value: str, leading: Sequence[int], valid: Mapping[int, str], type_: str) -> str:
    """Return a C expression that is ``value`` if a point of the leading axes is valid, otherwise 0."""
    condition = inside(leading, valid)
    return f"({condition} ? {value} : ({type_}){{0}})" if condition else value


def offset(base: str, leading: Sequence[int | str], chunk: Chunk, strides: Sequence[str]) -> str:
    """Return the C expression of the offset of the element at ``leading`` and the chunk's first lane: base + Σ
    index·stride."""
    constant, terms = 0, [base]
    for i, stride in zip((*leading, chunk.start), strides, strict=True):
        if isinstance(i, str):
            terms += [f"{i} * {stride}"] if stride != "0" else []
        elif stride.isdigit():
            constant += i * int(stride)
        elif i:
            terms.append(f"{i} * {stride}")
    if constant:
        terms.append(str(constant))
    return " + ".join(terms)


def lanes_of(chunk: Chunk, lanes: str | None) -> str | None:
    """Return the number of valid lanes, as a C expression; None if all are valid."""
    if lanes is not None:
        return f"mlc_clamp({lanes} - {chunk.start}, {chunk.width})"
    return None if chunk.valid == chunk.width else str(chunk.valid)


def read(pointer: str, at: str, layout: Layout, chunk: Chunk, stride: str, lanes: str | None) -> str:
    """Return the C expression of one variable read at ``pointer[at]``."""
    memory = memory_element(layout.element)
    if chunk.width == 1:
        value = f"{pointer}[{at}]"
        return value if lanes is None else f"({lanes} > {chunk.start} ? {value} : 0)"
    name, n = f"{memory}x{chunk.width}", lanes_of(chunk, lanes)
    if stride in _LOADS:
        how = _LOADS[stride]
        value = f"{how}_{name}({pointer} + {at})" if n is None else f"{how}_n_{name}({pointer} + {at}, {n})"
    else:
        value = _lanes(name, chunk, n, lambda lane: f"{pointer}[{at} + {lane} * {stride}]")
    return _from_memory(value, layout.element, chunk)


def in_pairs(layout: Layout) -> bool:
    """Return whether a read with stride 2 can share loads with the elements between; predicates cannot, because their
    width changes."""
    return not layout.scalar and layout.element != "i1"


def read_pairs(pointer: str, at: str, layout: Layout, c: int, odd: bool) -> str:
    """Return the C expression of every second element from ``pointer[at]`` on, or with ``odd`` of the elements between;
    both share loads."""
    chunk = layout.chunks[c]
    name, n = f"{memory_element(layout.element)}x{chunk.width}", lanes_of(chunk, None)
    if n is not None:
        return f"mlc_load_every_2_n_{name}({pointer} + {at}{' + 1' if odd else ''}, {n})"
    whole = odd or c + 1 < len(layout.chunks)  # whether the element after the last one may be read
    if not whole:
        return f"mlc_load_every_2_{name}({pointer} + {at})"
    picks = ", ".join(str(2 * i + odd) for i in range(chunk.width))
    vectors = [f"mlc_load_{name}({pointer} + {at}{f' + {chunk.width}' if k else ''})" for k in (0, 1)]
    return f"MLC_SHUFFLE({name}, {chunk.width}, {', '.join(vectors)}, {picks})"


def slide(rows: CTile, last: CTile, leading: tuple[int, ...], c: int) -> str:
    """Return the C expression of a variable of ``rows`` shifted by one lane."""
    chunks = rows.layout.chunks
    chunk, name = chunks[c], rows.layout.c_type(chunks[c])
    if c + 1 == len(chunks):
        following = f"mlc_fill_{name}({last.at(leading, 0)})"
    elif chunks[c + 1].width == chunk.width:
        following = rows.at(leading, c + 1)
    else:
        following = f"mlc_fill_{name}({rows.at(leading, c + 1)}[0])"
    picks = [i + 1 if i + 1 < chunk.valid else chunk.width for i in range(chunk.width)]
    return f"MLC_SHUFFLE({name}, {chunk.width}, {rows.at(leading, c)}, {following}, {', '.join(map(str, picks))})"


def transposed_axis(layout: Layout, strides: Sequence[str]) -> int | None:
    """Return the axis of a tile that is contiguous in memory, if the last axis is not; None otherwise. The tile is read
    in vectors along this axis, which are then transposed in registers."""
    vectors = layout.chunks[0].width > 1 and vector_name(layout.element, 16) in TRANSPOSABLE and layout.element != "i1"
    if not vectors or strides[-1] in ("0", "1"):
        return None
    axes = (n for n, (size, stride) in enumerate(zip(layout.shape, strides, strict=True)) if stride == "1" and size > 2)
    return next(axes, None)


def read_transposed(
    pointer: str, base: str, layout: Layout, chunk: Chunk, at: Sequence[int], axis: int, strides: Sequence[str],
    lanes: str | None, valid: Mapping[int, str],
) -> list[str]:  # fmt: skip
    """Return C expressions of the vectors along ``axis`` from ``at`` on, one for each lane of ``chunk``."""
    name, size = vector_name(layout.element, chunk.width), layout.shape[axis] - at[axis]
    others = {n: points for n, points in valid.items() if n != axis}
    vectors = []
    for lane in range(chunk.start, chunk.start + chunk.valid):
        address = f"{pointer} + {offset(base, clamped(at, others), Chunk(lane, 1, 1), strides)}"
        rows = f"mlc_clamp({valid[axis]} - {at[axis]}, {min(size, chunk.width)})" if axis in valid else str(size)
        n = rows if lanes is None else f"{lanes} > {lane} ? {rows if axis in valid else min(size, chunk.width)} : 0"
        whole = size >= chunk.width and lanes is None and axis not in valid
        vectors.append(f"mlc_load_{name}({address})" if whole else f"mlc_load_n_{name}({address}, {n})")
    return vectors


def gather(pointer: str, offsets: str, layout: Layout, chunk: Chunk, lanes: str | None) -> str:
    """Return the C expression of one variable gathered at the offsets in another."""
    if chunk.width == 1:
        value = f"{pointer}[{offsets}]"
        return value if lanes is None else f"({lanes} > {chunk.start} ? {value} : 0)"
    name = f"{memory_element(layout.element)}x{chunk.width}"
    value = _lanes(name, chunk, lanes_of(chunk, lanes), lambda lane: f"{pointer}[{offsets}[{lane}]]")
    return _from_memory(value, layout.element, chunk)


def gather_constant(
    pointer: str, at: str, layout: Layout, chunk: Chunk, offsets: Sequence[int], lanes: str | None
) -> str:
    """Return the C expression of one variable gathered at constant ``offsets``, one for each lane, from
    ``pointer[at]``."""
    own = offsets[chunk.start : chunk.start + chunk.valid]
    low, steps = min(own), {b - a for a, b in itertools.pairwise(own)}
    if own[0] == low and len(steps) <= 1:
        return read(pointer, f"{at} + {low}", layout, chunk, str(max(steps, default=1)), lanes)
    name, span, width = f"{memory_element(layout.element)}x{chunk.width}", max(own) - low + 1, chunk.width
    if lanes is not None or span > 2 * width:
        value = _chosen(name, chunk, lanes_of(chunk, lanes), [f"{pointer}[{at} + {p}]" for p in own])
        return _from_memory(value, layout.element, chunk)
    last = max(0, span - width)  # the offset of the second of two vectors
    vectors = [_load(name, f"{pointer} + {at} + {low + start}", min(span, width), width) for start in (0, last)]
    picks = [p - low if p - low < width else width + p - low - last for p in own] + [0] * (width - chunk.valid)
    value = f"MLC_SHUFFLE({name}, {width}, {', '.join([*vectors, *map(str, picks)])})"
    return _from_memory(value, layout.element, chunk)


def _load(name: str, address: str, n: int, width: int) -> str:
    return f"mlc_load_{name}({address})" if n == width else f"mlc_load_n_{name}({address}, {n})"


def _lanes(name: str, chunk: Chunk, n: str | None, element: Callable[[int | str], str]) -> str:
    """Return a vector built lane by lane; lanes from ``n`` on are not read. An ``n`` known only at run time needs a
    loop: the C compiler takes seconds for the equivalent unrolled conditions."""
    if n is not None and not n.isdigit():
        return f"__extension__({{ {name} v_ = {{0}}; for (int i_ = 0; i_ < {n}; i_++) v_[i_] = {element('i_')}; v_; }})"
    items = [element(lane) for lane in range(chunk.width if n is None else int(n))]
    return f"({name}){{{', '.join(items)}}}"


def _chosen(name: str, chunk: Chunk, n: str | None, elements: Sequence[str]) -> str:
    """Return a vector of the given elements; those from lane ``n`` on are not read."""
    read = [p if n is None else f"{lane} < {n} ? {p} : 0" for lane, p in enumerate(elements)]
    return f"({name}){{{', '.join(read)}}}"


def write(pointer: str, at: str, tile: CTile, value: str, chunk: Chunk, stride: str, lanes: str | None) -> str:
    """Return the C statement that writes one variable to ``pointer[at]``."""
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
    """Return the element type in memory, where predicates are bytes."""
    return {"i1": "i8", "bf16": "u16"}.get(element, element)


def pointer_type(element: str) -> str:
    """Return the C type of a buffer's elements: signless, like the vector types; narrow types are bytes."""
    return c_scalar("i8" if element == "i1" or is_narrow(element) else element.replace("ui", "i"))


def _from_memory(value: str, element: str, chunk: Chunk) -> str:
    return f"(mlc_widen_i8x{chunk.width}({value}) != 0)" if element == "i1" else value


def _to_memory(value: str, element: str, chunk: Chunk) -> str:
    return f"mlc_narrow_i32x{chunk.width}(-{value})" if element == "i1" else value
