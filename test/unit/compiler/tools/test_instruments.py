from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp

from mlc.errors import OutputError
from mlc.tools.instruments import DumpIR, Timer


def module() -> ModuleOp:
    """A function that returns nothing."""
    made = ModuleOp([FuncOp.from_region("f", [], [])])
    function = made.body.block.first_op
    assert isinstance(function, FuncOp)
    function.body.block.add_op(ReturnOp())
    return made


def test_dumps_are_ir_that_parses(tmp_path: Path) -> None:
    dump = DumpIR(tmp_path / "ir")
    for name in ("graph.one", "graph.two"):
        dump.before(name, module(), None)
        dump.after(name, module(), None)
    dump.after("code.compile", None, None)
    assert sorted(p.name for p in (tmp_path / "ir").iterdir()) == ["000-graph.one.mlir", "001-graph.two.mlir"]
    assert (tmp_path / "ir/000-graph.one.mlir").read_text() == f"{str(module())}\n"


def test_a_dump_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        DumpIR(tmp_path / "file" / "ir")


def test_op_counts_and_stages() -> None:
    timer, before, after = Timer(), module(), module()
    after.body.block.add_op(TestOp())
    timer.before("graph.grow", before, None)
    timer.after("graph.grow", after, None)
    (step,) = timer.steps
    assert (step.ops_before, step.ops_after, step.stage) == (3, 4, "graph")
    assert list(timer.stages()) == ["graph"] and step.seconds >= 0
    assert [column.header for column in timer.report().columns] == ["pass", "ms", "share", "ops", "change"]
