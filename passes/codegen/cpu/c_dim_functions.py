"""C functions of the symbolic dimensions: arena, shapes of outputs, empty tensors, aliases, guards, redzones, work.

Each Python function returns one function of ``mlc_program``, which takes the dimensions as its parameter ``dim``; "" if
a model does not need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from xdsl.dialects.builtin import StringAttr

from mlc.dialects import rt
from mlc.dialects.semantics.dims import Dim, DimLike, condition, dim_max, parse_dim, parse_guard
from mlc.dialects.types import bytes_of, shape_of
from mlc.passes.codegen.c_like.c_dims import c_dim, shared_atoms
from mlc.passes.codegen.c_like.c_program import declare, output_in
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.plan.program.arena import ALIGN, aligned, buffers_of, placement_order

BYTE_WORK = 4  # operations in the time of a byte: the unit of work of SHARED_WORK in mlc_team.c, for all artifacts


def offsets(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return ``place`` and ``workspace``, which compute the offsets of the buffers and the end of their arena. The
    runtime walks a table, because statements for 184 buffers were 1,900 lines."""
    buffers = buffers_of(program)
    sizes = [aligned(parse_dim(op.bytes.data)) for op in buffers]
    distinct = list(dict.fromkeys(sizes)) or [0]
    variables, names = shared_atoms(distinct, "__int128")
    rows, after = _rows_of_buffers(buffers, [distinct.index(size) for size in sizes])
    lines = ["static int64_t place(const int64_t *dim, int64_t *offset, int host) {", "  (void)dim;"]
    lines += [*declare(dims, "__int128", "dim"), *variables]
    lines += ["  const __int128 sz[] = {", *(f"    {c_dim(size, names)}," for size in distinct), "  };"]
    lines += _table("int af", map(str, after)) + _table("mlc_buffer bs", rows)
    lines.append(f"  return mlc_place(bs, {len(rows)}, sz, af, offset, host);")
    workspace = "static int64_t workspace(const int64_t *dim) { return place(dim, 0, 0); }"
    return "\n".join([*lines, "}", workspace])


def _rows_of_buffers(buffers: Sequence[rt.BufferOp], sizes: Sequence[int]) -> tuple[list[str], list[int]]:
    """Return the rows of the table of ``mlc_place``, and the numbers of the rows after whose buffers other buffers
    begin."""
    rows: list[str] = []
    after: list[int] = []
    row_of: dict[int, int] = {}
    for n in placement_order(buffers):
        op, first, row_of[n] = buffers[n], len(after), len(rows)
        after += [row_of[below.value.data] for below in op.after or ()]
        start = op.offset.value.data if op.offset is not None else 0
        row = (n, int(rt.on_host(op.result)), sizes[n], start, first, len(after))
        rows.append(f"{{{', '.join(map(str, row))}}}")
    return rows, after


def _table(name: str, items: Iterable[str]) -> list[str]:
    """Return the definition of a constant array with at least one element: C has no empty arrays."""
    indent = " " * 4
    rows = wrap(", ".join(items) or "0", 100, initial_indent=indent, subsequent_indent=indent)
    return [f"  static const {name}[] = {{", *rows, "  };"]


def output_shape(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    lines = ["static int output_shape(int i, const int64_t *dim, int64_t *shape) {", "  (void)dim, (void)shape;"]
    cases: dict[int, str] = {}
    for op in program.body.block.ops:
        if isinstance(op, rt.OutputOp):
            check = "if (!shape) return -1; " if op.largest_shape else ""
            cases[op.index.value.data] = check + _beyond(op.largest_shape) + _filled(op.largest_shape, op.optional_axes)
    return "\n".join([*lines, *declare(dims, "__int128", "dim"), *_switch(cases), "  return -1;", "}"])


def _beyond(shape: Sequence[DimLike]) -> str:
    """Return a statement that returns -2 if a computed extent does not fit in 64 bits."""
    made = [c_dim(d) for d in shape if isinstance(d, Dim) and str(d) not in d.symbols()]
    return f"if (mlc_beyond({len(made)}, (const __int128[]){{{', '.join(made)}}})) return -2; " if made else ""


def _filled(shape: Sequence[DimLike], optional: Sequence[int]) -> str:
    """Return statements that fill ``shape`` and return the rank, without ``optional`` axes whose extent is 1."""
    if not optional:
        return " ".join([*(f"shape[{n}] = {c_dim(d)};" for n, d in enumerate(shape)), f" return {len(shape)};"])
    sets = (
        f"shape[rank] = {c_dim(d)}; rank += {'shape[rank] != 1' if n in optional else '1'};"
        for n, d in enumerate(shape)
    )
    return " ".join(["{ int rank = 0;", *sets, "return rank; }"])


def _switch(cases: Mapping[int, str]) -> list[str]:
    """Return a switch over ``i``. Numbers of equal code share a case, because gcc's time grows with the square of the
    cases."""
    numbers: dict[str, list[int]] = {}
    for n, code in cases.items():
        numbers.setdefault(code, []).append(n)
    lines = [f"  {' '.join(f'case {n}:' for n in same)} {code}" for code, same in numbers.items()]
    return ["  switch (i) {", *lines, "  }"]


def sometimes_empty(program: rt.ProgramOp) -> dict[int, list[DimLike]]:
    """Return the extents that may be 0, of each input and output that has any; outputs are numbered after the
    inputs."""
    shapes: dict[int, Sequence[DimLike]] = {}
    for op in program.body.block.ops:
        if isinstance(op, rt.InputOp):
            shapes[op.index.value.data] = shape_of(op.result)
        elif isinstance(op, rt.OutputOp):
            shapes[len(program.inputs) + op.index.value.data] = op.largest_shape
    found = {n: [d for d in shape if not isinstance(d, int) or d == 0] for n, shape in sorted(shapes.items())}
    return {n: extents for n, extents in found.items() if extents}


def empty(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function that determines which tensors have no elements, and need no memory; "" if all have some."""
    sometimes = sometimes_empty(program)
    if not sometimes:
        return ""
    lines = ["static int empty(int i, const int64_t *dim) {", "  (void)dim;", *declare(dims, "int64_t", "dim")]
    cases = {n: f"return {' || '.join(f'{c_dim(d)} == 0' for d in extents)};" for n, extents in sometimes.items()}
    return "\n".join([*lines, *_switch(cases), "  return 0;", "}"])


def aliases_of(program: rt.ProgramOp) -> list[tuple[int, int, DimLike]]:
    """Return (input, output, bytes) for each input whose memory is an output."""
    inputs = [o for o in program.body.block.ops if isinstance(o, rt.InputOp)]
    numbers = [(o.index.value.data, output_in(o), bytes_of(o.result)) for o in inputs]
    return [(n, output, size) for n, output, size in numbers if output is not None]


def aliases(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function that gives the output that is in the memory of input ``i``, and its bytes; "" if there is
    none."""
    found = aliases_of(program)
    if not found:
        return ""
    lines = ["static int alias(int i, const int64_t *dim, int64_t *bytes) {", "  (void)dim;"]
    cases = {n: f"*bytes = {c_dim(size)}; return {output};" for n, output, size in found}
    return "\n".join([*lines, *declare(dims, "int64_t", "dim"), *_switch(cases), "  return -1;", "}"])


def violated(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function that finds the guard that the dimensions violate; "" for a model without guards."""
    if not program.guards:
        return ""
    lines = ["static const char *violated(const int64_t *dim) {", *declare(dims, "__int128", "dim")]
    for guard in program.guards:
        value, where = parse_guard(guard.data)
        text = f"({condition(value)})" + (f", which {where} needs" if where else "")
        lines.append(f"  if ({c_dim(value)} < 0) return {c_string(text)};")
    return "\n".join([*lines, "  return 0;", "}"])


def fenced(program: rt.ProgramOp) -> bool:
    return "redzones" in program.attributes and bool(buffers_of(program))


def fence(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function that marks the redzones between buffers, if ``plan-memory`` has made any."""
    if not fenced(program):
        return ""
    lines = ["static void fence(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)) {"]
    buffers = buffers_of(program)
    lines += [*declare(dims, "int64_t", "dim"), f"  int64_t offset[{len(buffers)}];", "  place(dim, offset, 0);"]
    for n, op in enumerate(buffers):
        used, size = parse_dim(op.bytes.data) - ALIGN, aligned(parse_dim(op.bytes.data))
        lines.append(f"  mark(arena + offset[{n}] + {c_dim(used)}, (size_t){c_dim(size - used)});")
    return "\n".join([*lines, "}"])


def work(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function by which the runtime decides whether to wake the team: the mean work of a launch that threads
    can share, in operations, or in its bytes as BYTE_WORK operations each if these are more (the roofline)."""
    launches = [o for o in rt.walk(program.body.block) if isinstance(o, rt.LaunchOp)]
    total = sum((_shared(o) for o in launches), 0)
    count = sum((_count(o.iterations, 1) for o in launches), 0) if launches else 1
    variables, names = shared_atoms([total, count], "__int128")
    lines = ["static double work(const int64_t *dim) {", "  (void)dim;", *declare(dims, "__int128", "dim"), *variables]
    return "\n".join([*lines, f"  return (double){c_dim(total, names)} / (double){c_dim(count, names)};", "}"])


def _shared(launch: rt.LaunchOp) -> DimLike:
    if launch.serial is not None:
        return 0
    moved = _count(launch.bytes, 0) * (1 if launch.resident is not None else BYTE_WORK)
    return _larger(_count(launch.flops, 0), moved)


def _larger(a: DimLike, b: DimLike) -> DimLike:
    """Return the larger of two numbers of operations. It is known at compile time if no term has a larger coefficient
    in the other number."""
    difference = a - b
    signs = {c > 0 for _, c in difference.terms} if isinstance(difference, Dim) else set()
    return dim_max(a, b) if len(signs) > 1 or isinstance(difference, int) else a if True in signs else b


def _count(text: StringAttr | None, default: int) -> DimLike:
    return default if text is None else parse_dim(text.data)
