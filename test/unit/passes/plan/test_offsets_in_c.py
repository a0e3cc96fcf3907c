"""The offsets that the C of a host program computes are those of the plan, at any size of the dimensions."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest
from host_programs import STATIC, SYMBOLIC, Grower, starts

from mlc.dialects import rt
from mlc.passes.codegen.cpu import c_model
from mlc.passes.codegen.cpu.c_dim_functions import offsets
from mlc.passes.context import MlcContext
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.program.arena import arena_bytes, buffers_of
from mlc.runtime.c import include_flags, paths

EXTENTS = [{"n": 8, "m": 8}, {"n": 0, "m": 1}, {"n": 1, "m": 70}, {"n": 65, "m": 3}]
SIZES = [STATIC, SYMBOLIC, STATIC + SYMBOLIC]


@pytest.fixture
def programs() -> list[rt.ProgramOp]:
    random = Random(int(np.random.default_rng().integers(1 << 30)))
    grown = [Grower(random, SIZES[n % 3]).program() for n in range(12)]
    for program in grown:
        PlanMemory().apply(MlcContext(), program.parent_op())  # type: ignore[arg-type]
    return grown


def compiled(programs: list[rt.ProgramOp], folder: Path) -> ctypes.CDLL:
    """A library with the function ``place`` of each program as ``place_0``, ``place_1``, …"""
    sources = [offsets(program, [d.data for d in program.dims]) for program in programs]
    exported = [re.sub(r"static int64_t (\w+)\(", rf"MLC_EXPORT int64_t \1_{n}(", c) for n, c in enumerate(sources)]
    parts = [c_model._HEAD, *(text.replace("return place(", f"return place_{n}(") for n, text in enumerate(exported))]
    source, library = folder / "offsets.c", folder / "offsets.so"
    source.write_text("\n".join(parts))
    units = [str(source), str(paths()["mlc_place.c"])]
    subprocess.run(["gcc", "-shared", "-fPIC", *include_flags(), *units, "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def test_offsets_are_those_of_the_plan(programs: list[rt.ProgramOp], tmp_path: Path) -> None:
    library = compiled(programs, tmp_path)
    for number, program in enumerate(programs):
        function = getattr(library, f"place_{number}")
        function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        for dims in EXTENTS:
            values = np.array([dims[d.data] for d in program.dims] or [0], np.int64)
            buffers = buffers_of(program)
            found = np.full(len(buffers) or 1, -1, np.int64)
            assert function(values.ctypes.data, found.ctypes.data, 0) == arena_bytes(program, dims)
            assert [int(at) for at in found[: len(buffers)]] == [starts(program, dims)[b][0] for b in buffers]
            assert function(values.ctypes.data, None, 0) == arena_bytes(program, dims)
