"""Intermediates of a kernel that do not fit on the stack: nests of their own, or scratch in the arena; onnxruntime
gives the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from control import FLOAT, agree, ints, model, node
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from mlc.dialects.kernel import FuncOp, LocalOp
from mlc.dialects.poly import schedule_of
from mlc.dialects.types import bytes_of
from mlc.driver.lower import lower
from mlc.errors import InputError
from mlc.frontends.onnx import import_model
from mlc.options import Options
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.passes.schedule.rules.fallback import plain
from mlc.target import DEFAULT

STACK = DEFAULT.local_room
Size = int | str


def shifted(batch: Size, length: Size, features: int) -> ModelProto:
    """A layer norm, and its rows shifted by one: a zero row comes first."""
    random = np.random.default_rng()
    nodes = [
        node("LayerNormalization", "x scale bias", "y", epsilon=1e-5),
        node("Pad", "y pads", "z"),
    ]
    weights = {n: random.standard_normal(features).astype(np.float32) for n in ("scale", "bias")}
    later = f"{length} + 1" if isinstance(length, str) else length + 1
    outputs = {"y": (FLOAT, [batch, length, features]), "z": (FLOAT, [batch, later, features])}
    weights["pads"] = ints(0, 1, 0, 0, 0, 0)
    return model(nodes, {"x": (FLOAT, [batch, length, features])}, outputs, weights)


def normal(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng().standard_normal(shape).astype(np.float32)}


def lowered(proto: ModelProto, schedule: str | None = None) -> list[FuncOp]:
    imported = import_model(proto)
    module: ModuleOp = lower(imported.module, imported.weights, Options(schedule=schedule), "loops").module
    kernels = [o for o in module.ops if isinstance(o, FuncOp)]
    for fn in kernels:
        used = sum((bytes_of(o.result) for o in fn.walk() if isinstance(o, LocalOp)), 0)
        assert isinstance(used, int) and used <= STACK
    return kernels


def serial(proto: ModelProto) -> str:
    """The plain schedule of a model's only kernel, as its user would give it."""
    imported = import_model(proto)
    (fn,) = [o for o in lower(imported.module, imported.weights, Options(), "schedule").module.ops
             if isinstance(o, FuncOp)]  # fmt: skip
    return f"{fn.sym_name.data}: {'; '.join(map(str, plain(statements_of(fn))))}"


def test_open_extents() -> None:
    """The border of the padding has no iterator of the rows, so one nest would have to hold a statistic of each row."""
    proto = shifted("batch", "length", 40)
    (fn,) = lowered(proto)
    assert not any(nest.serial for nest in schedule_of(fn)) and not fn.scratch.arrays
    agree(proto, normal(2, 7, 40), normal(1, 1, 40), normal(5, 33, 40), normal(0, 3, 40))


def test_beyond_the_stack() -> None:
    """The same with a constant extent: statistics of one array of rows, which are more bytes than the stack has."""
    proto = shifted(2, STACK // 4 + 5, 4)
    (fn,) = lowered(proto)
    assert not any(nest.serial for nest in schedule_of(fn)) and not fn.scratch.arrays
    agree(proto, normal(2, STACK // 4 + 5, 4))


@pytest.mark.parametrize("length", ["length", STACK // 8 + 3])
def test_serial_kernel(length: Size, tmp_path: Path) -> None:
    """Nests that run one after the other keep whole arrays between them: in the arena, however large."""
    proto = shifted("batch" if isinstance(length, str) else 2, length, 5)
    schedule = serial(proto)
    (fn,) = lowered(proto, schedule)
    assert all(nest.serial for nest in schedule_of(fn)) and fn.scratch.arrays
    sizes = [(3, 19), (1, 1), (2, 90)] if isinstance(length, str) else [(2, length)]
    (path := tmp_path / "schedule.txt").write_text(schedule)
    agree(proto, *(normal(*size, 5) for size in sizes), schedule=path)


def test_schedule_beyond_the_stack() -> None:
    proto = shifted(2, STACK // 4 + 5, 4)
    (fn,) = lowered(proto)
    (rows, *_) = schedule_of(fn)
    names = " ".join(name for nest in schedule_of(fn) for name in nest.statements)
    given = f"{fn.sym_name.data}: rows: {names} | {rows.band[0].iterator} | {rows.band[1].iterator} i2/4v"
    with pytest.raises(InputError, match=rf"Line 1 .*: local arrays of \d+ bytes do not fit on the stack, of {STACK}"):
        lowered(proto, given)
