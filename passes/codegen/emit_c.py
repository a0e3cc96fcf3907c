"""Code generation: a planned module becomes C files of kernels, a C file of the host program, the signature, and the
payload."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp

from mlc.dialects import kernel, rt
from mlc.dialects.graph import source_nodes
from mlc.dialects.graph.sizes import ROOM
from mlc.dialects.poly import schedule_of, schedule_text
from mlc.dialects.semantics.dims import condition, parse_guard, signature_names
from mlc.dialects.types import NUMPY_NAMES, element_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.codegen.c_like.c_collective import collectives_of, digest_of, ranks_of
from mlc.passes.codegen.cpu.c_kernel import print_kernel
from mlc.passes.codegen.cpu.c_model import Weights, print_model
from mlc.passes.codegen.cpu.header_parts import parts_of
from mlc.passes.codegen.cpu.payload_layout import payload_layout, states_of
from mlc.passes.codegen.cpu.shared_bodies import shared_bodies
from mlc.passes.plan.program.arena import ALIGN

FILE_BYTES = 100_000
"""The bytes of kernels in a file, about. The compiler takes as long for a file's headers as for 10 kB
of kernels."""
LOOPS = "loops"
"""How the names of files of kernels begin that are loops of others."""
OF_THEIR_OWN = {
    "forest": "forest",
    "coupling": "coupling",
    **dict.fromkeys(("cholesky", "lu", "triangular_solve"), "factors"),
}
"""Families of runtime library functions that have a header of their own, which is not mlc_library.h."""


@dataclass(frozen=True)
class Code:
    """The input of the C compiler and of the artifact writer. ``families``: those of the called runtime library
    functions."""

    sources: dict[str, str]
    signature: dict[str, Any]
    families: tuple[str, ...] = ()


def program_of(module: ModuleOp) -> rt.ProgramOp:
    return next(o for o in module.ops if isinstance(o, rt.ProgramOp))


@dataclass(frozen=True)
class Kernels:
    """The C functions of a module's kernels: kernel -> symbol, symbol -> C text. Kernels of equal text share a
    symbol; the text of a kernel may have the functions of others, with which it shares a body. ``headers``: those of
    the runtime library functions that a symbol calls, where there are any. ``printed``: kernel -> C function, named
    KERNEL. ``loops``: the symbols of kernels that are loops of others (``outline-loops``), which the C compiler
    optimizes more."""

    symbols: dict[str, str]
    strings: dict[str, str]
    headers: Mapping[str, set[str]] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)
    loops: Collection[str] = ()


def print_kernels(module: ModuleOp, lanes: int, known: Mapping[str, str] | None = None) -> Kernels:
    """Return C for the kernels of a planned module. A symbol is the hash of its C text, so equal code has equal
    objects. ``known``: kernel -> C function, of kernels that were printed before."""
    known = known or {}
    strings = {name: known.get(name) or print_kernel(fn, "KERNEL", lanes) for name, fn in functions_of(module).items()}
    symbols = {name: f"k_{hashlib.sha256(text.encode()).hexdigest()[:16]}" for name, text in strings.items()}
    functions = {symbols[name]: text.replace("KERNEL", symbols[name], 1) for name, text in strings.items()}
    headers = {symbols[name]: headers_of(fn) for name, fn in functions_of(module).items()}
    loops = {symbols[name]: functions[symbols[name]] for name, fn in functions_of(module).items() if is_loop(fn)}
    others = {symbol: text for symbol, text in functions.items() if symbol not in loops}
    return Kernels(symbols, shared_bodies(others) | loops, headers, strings, loops.keys())


def is_loop(fn: kernel.FuncOp) -> bool:
    """Return whether a kernel is a loop of others."""
    return any(isinstance(o, kernel.RepeatOp) for o in fn.block.ops)


def headers_of(fn: kernel.FuncOp) -> set[str]:
    """Return the headers of the runtime library functions that a kernel calls."""
    called = (o.function.data for o in fn.walk() if isinstance(o, kernel.LibraryCallOp))
    return {next((h for name, h in OF_THEIR_OWN.items() if f"{c}_".startswith(f"{name}_")), "library") for c in called}


def functions_of(module: ModuleOp) -> dict[str, kernel.FuncOp]:
    """Return the kernels of a module by name."""
    return {o.sym_name.data: o for o in module.ops if isinstance(o, kernel.FuncOp)}


def emit_c(
    module: ModuleOp,
    prefix: str,
    kernels: Kernels,
    isa: Sequence[str],
    weights: Weights,
    about: dict[str, Any],
    file_bytes: int = FILE_BYTES,
) -> Code:
    """Return C for a planned module. ``about`` is added to the signature (compiler version, target)."""
    program, functions = program_of(module), functions_of(module)
    signature = signature_of(program, functions, kernels.symbols, prefix, weights) | about
    signature |= _collectives(program, [*kernels.strings.values(), *weights.of_ranks])
    sources = {name: _file(kernels, group) for name, group in _grouped(kernels, file_bytes).items()}
    sources["model.c"] = print_model(program, prefix, kernels.symbols, signature, weights, isa)
    return Code(sources, signature, routine_families(program))


def _collectives(program: rt.ProgramOp, rest: Sequence[str]) -> dict[str, Any]:
    """Return the signature's entry of a model with collectives: the number of ranks (0: any), and the digest they
    compare: of the host program and the ``rest``."""
    if not collectives_of(program):
        return {}
    digest = digest_of(program, rest)
    return {"collectives": {"ranks": ranks_of(program), "digest": digest}}


def routine_families(program: rt.ProgramOp) -> tuple[str, ...]:
    """Return the families of the runtime library functions that a program calls: ``string`` for ``string.concat``."""
    calls = (op.fn.data for op in rt.walk(program.body.block) if isinstance(op, rt.RoutineOp))
    table = ["string"] if program.strings is not None else []
    table += ["comm"] if collectives_of(program) else []
    return tuple(sorted({*table, *(fn.split(".")[0] for fn in calls)}))


def _grouped(kernels: Kernels, file_bytes: int) -> dict[str, list[str]]:
    """Return the symbols in each file of kernels, by its name; loops have files of their own."""
    found: dict[str, list[str]] = {}
    for kind in ("kernels", LOOPS):
        strings = {k: text for k, text in kernels.strings.items() if (k in kernels.loops) == (kind == LOOPS)}
        found |= {f"{kind}_{group[0].removeprefix('k_')}.c": group for group in groups(strings, file_bytes)}
    return found


def _file(kernels: Kernels, symbols: Sequence[str]) -> str:
    called = {header for symbol in symbols for header in kernels.headers.get(symbol, ())}
    return unit([kernels.strings[symbol] for symbol in symbols], called)


def unit(strings: Sequence[str], called: Collection[str] = ()) -> str:
    """Return a C file of kernels. It includes only the headers that the kernels need, because parsing takes time:
    those of the library functions that are ``called``, or that of vectors."""
    text = "\n".join(["", *strings])
    headers = [f'#include "mlc_{name}.h"\n' for name in sorted(called) or ["kernel"]]
    return "".join([f"#define MLC_PARTS {' | '.join(parts_of(text)) or 0}\n", *headers, text])


def groups(strings: Mapping[str, str], file_bytes: int) -> list[list[str]]:
    """Return the symbols of the kernels (symbol -> text) in each file, which has about ``file_bytes``.

    Content-defined chunking: from half of these bytes on, a digest decides whether a kernel is the last of its file, in
    proportion to the kernel's size. So a kernel that is edited, added or removed changes its own file, and seldom the
    next: all other files have known objects."""
    files: list[list[str]] = []
    full = True
    for symbol, text in strings.items():
        if full:
            files.append([])
            size = 0
        files[-1].append(symbol)
        size += len(text)
        full = 2 * size >= file_bytes and (size >= 2 * file_bytes or _chance(symbol) * file_bytes < 2 * len(text))
    return files


def _chance(symbol: str) -> float:
    """Return a number from 0 to 1 that depends on the symbol only."""
    return int.from_bytes(hashlib.sha256(symbol.encode()).digest()[:4]) / 2**32


def signature_of(
    program: rt.ProgramOp, functions: dict[str, kernel.FuncOp], symbols: dict[str, str], prefix: str, weights: Weights
) -> dict[str, Any]:
    """Return the signature of a model, to which targets add entries."""
    ops = list(rt.walk(program.body.block))
    inputs = [_tensor(n.data, o) for n, o in zip(program.inputs, _of(ops, rt.InputOp), strict=True)]
    outputs = [_output(n.data, o) for n, o in zip(program.outputs, _of(ops, rt.OutputOp), strict=True)]
    launches = [_launch(o, functions, symbols) for o in ops if isinstance(o, rt.LaunchOp)]
    called: dict[str, Any] = {
        "abi": 2,
        "name": prefix,
        "dims": [signature_names(d.data) for d in program.dims],
        "inputs": inputs,
        "outputs": outputs,
        "sizes": _sizes(program),
    }
    if states := [_tensor(o.sym_name.data, o) for o, _, _ in states_of(program) if o.sym_name.data]:
        called["states"] = states
    return called | {
        "interface": _interface(called),
        "guards": [_guard(g.data) for g in program.guards or ()],
        "kernels": launches,
        **_apart(ops),
        "weights": _weights(weights),
        **_arena(program),
    }


def _weights(weights: Weights) -> dict[str, Any]:
    of_ranks = {"ranks": list(weights.of_ranks)} if weights.of_ranks else {}
    return {"bytes": weights.payload, "sha256": weights.sha256, "file": weights.file, **of_ranks}


def _apart(ops: Sequence[Any]) -> dict[str, Any]:
    """Return the entry of the loops in the host program, each with the reason why it is no kernel."""
    loops = [{"nodes": list(source_nodes(o)), "why": o.apart.data} for o in _of(ops, rt.LoopOp) if o.apart is not None]
    return {"loops": loops} if loops else {}


def _guard(text: str) -> dict[str, str]:
    guard, where = parse_guard(text)
    return {"expr": signature_names(str(guard)), "message": condition(guard)} | ({"node": where} if where else {})


def _interface(called: dict[str, Any]) -> str:
    """Return the digest of the entries that a caller relies on; other weights, kernels or targets do not change it."""
    return hashlib.sha256(json.dumps(called, sort_keys=True).encode()).hexdigest()[:16]


def _of(ops: Sequence[Any], kind: type) -> list[Any]:
    return [o for o in ops if isinstance(o, kind)]


def _tensor(name: str, op: Any) -> dict[str, Any]:
    shape = [d if isinstance(d, int) else signature_names(str(d)) for d in shape_of(op.result)]
    return {"name": name, "dtype": NUMPY_NAMES[element_of(op.result)], "shape": shape}


def _output(name: str, op: rt.OutputOp) -> dict[str, Any]:
    """Return the entry of an output. ``alias`` is the number of the input whose memory it may be; ``optional`` are axes
    of extent 1 that a caller's tensor may lack."""
    given = None if op.input is None else rt.root(op.input).owner
    found = _tensor(name, op) | ({"optional": list(op.optional_axes)} if op.optional_axes else {})
    return found | ({"alias": given.index.value.data} if isinstance(given, rt.InputOp) else {})


def _sizes(program: rt.ProgramOp) -> list[dict[str, Any]]:
    """Return the entries of the run-time dimensions: the output that has each value, and the upper bound."""
    names = [s.data for s in program.sizes or ()]
    bounds = program.bound_of
    numbers = enumerate(names, len(program.outputs) - len(names))
    entries = [{"name": name, "output": n, "bound": signature_names(str(bounds[name]))} for n, name in numbers]
    return [entry | ({"grows": True} if ROOM.fullmatch(str(entry["bound"])) else {}) for entry in entries]


def _launch(op: rt.LaunchOp, functions: dict[str, kernel.FuncOp], symbols: dict[str, str]) -> dict[str, Any]:
    name = op.callee.root_reference.data
    return {
        "name": name,
        "symbol": symbols[name],
        "nodes": list(source_nodes(op)),
        "schedule": schedule_text(schedule_of(functions[name])),
        **({"tuned": True} if functions[name].origin.tuned else {}),
        **({"plain": functions[name].origin.plain} if functions[name].origin.plain else {}),
        **({"loop": functions[name].serial.data} if is_loop(functions[name]) else {}),  # type: ignore[union-attr]
        **({"iterations": op.iterations.data} if op.iterations is not None else {}),
        "flops": signature_names(op.flops.data) if op.flops is not None else "",
        "bytes": signature_names(op.bytes.data) if op.bytes is not None else "",
    }


def _arena(program: rt.ProgramOp) -> dict[str, Any]:
    """Return the bytes of the arena and the most bytes alive at one time, for the assumed values of symbolic
    dimensions."""
    assert program.arena is not None
    size, live, at = (program.arena.data[name] for name in ("bytes", "live", "at"))
    assert isinstance(size, IntegerAttr) and isinstance(live, IntegerAttr) and isinstance(at, DictionaryAttr)
    sizes = {name: value.value.data for name, value in at.data.items() if isinstance(value, IntegerAttr)}
    typical = {signature_names(name): n for name, n in sizes.items()}
    return {"arena": str(size.value.data), "arena_bound": str(live.value.data), "arena_at": typical}


def payload(program: rt.ProgramOp, weights: WeightStore) -> Iterator[bytes | memoryview]:
    """Yield the payload in pieces, with one weight in memory at a time; entries start at multiples of 64 bytes."""
    for _, name in payload_layout(program).entries:
        array = weights[name]
        data = array.reshape(-1).view("u1").data if array.nbytes else b""
        yield data
        yield bytes(-array.nbytes % ALIGN)
