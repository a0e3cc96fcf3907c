"""What passes write on kernels and loops is declared: no source file sets an attribute of another name on them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.irdl import OptPropertyDef
from xdsl.utils.exceptions import VerifyException

from mlc.dialects import kernel
from mlc.dialects.kernel.declared import FACTS

ROOT = Path(__file__).parents[4]
FOLDERS = ("dialects", "passes", "compiler", "benchmarks")  # frontends make no kernels
SETTERS = {"pop", "update", "setdefault", "popitem"}
OTHERS = {
    "dialects/graph/base.py": "graph.node of any operation",
    "dialects/kernel/declared.py": "where loops get their record, and a parsed kernel its source nodes",
    "passes/plan/plan_memory.py": "rt.program",
    "passes/distribute/choice/written.py": "operators of the graph: their states on a mesh",
    "compiler/comm/partitioned.py": "the mesh of a module",
    "compiler/divided/source.py": "the mesh and the plan of a module",
    "passes/distribute/choice/planned.py": "the plan of a module, and of operators of the graph",
    "passes/distribute/insert_reshards.py": "the plan of operators of the graph",
    "passes/distribute/lowering/extents.py": "the blocks and the guards of main",
    "passes/distribute/partition.py": "states on a mesh, of operators of the graph",
    "passes/distribute/distribute.py": "the mesh of a module",
    "passes/schedule/polyhedral/restricted_body.py": "arith.select, of a mask",
    "passes/device/distribute_values.py": "operations on vectors: their distribution",
}
"""Files that set attributes by name, and of which operations: neither kernels nor loops."""


def named_attributes(path: Path) -> Iterator[ast.AST]:
    """Where a file sets or removes entries of an operation's ``attributes``, but for copies of all of another's."""
    for node in ast.walk(ast.parse(path.read_text())):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = list(node.targets)
        elif isinstance(node, ast.AugAssign) and not _is_attributes(node.value):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SETTERS:
            targets = [node.func.value]
        inner = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if any(_is_attributes(each.value if isinstance(each, ast.Subscript) else each) for each in inner):
            yield node


def _is_attributes(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "attributes"


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_sets_undeclared_attributes(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = [getattr(node, "lineno", 0) for node in named_attributes(path)]
        assert not lines or name in OTHERS, f"{name}:{lines[0]} sets an attribute; declare a fact in dialects/kernel"


def test_the_list_of_other_files_is_not_stale() -> None:
    assert all(any(named_attributes(ROOT / name)) for name in OTHERS)


def test_facts_are_the_optional_properties_of_a_kernel() -> None:
    properties = kernel.FuncOp.get_irdl_definition().properties
    optional = {name for name, each in properties.items() if isinstance(each, OptPropertyDef)}
    assert optional == set(FACTS)


def made() -> kernel.FuncOp:
    fn = kernel.FuncOp("k", FunctionType.from_lists([], []))
    fn.block.add_op(kernel.ReturnOp())
    return fn


def test_a_record_of_all_defaults_is_not_written() -> None:
    fn = made()
    fn.launch = kernel.Launch(computing=32)
    assert fn.declared().keys() == {"launch"} and fn.launch.computing == 32
    fn.launch = kernel.Launch()
    assert not fn.declared() and fn.launch.computing is None


def test_an_undeclared_attribute_is_refused() -> None:
    fn = made()
    fn.verify()
    fn.attributes["threads"] = StringAttr("256")
    with pytest.raises(VerifyException, match="has no fact 'threads'"):
        fn.verify()


@pytest.mark.parametrize(
    "record", [kernel.Launch(computing=2, launched=1), kernel.Origin(line=1, tuned=True), kernel.Scratch(arrays=1)]
)
def test_a_record_that_contradicts_itself_is_refused(record: kernel.Launch | kernel.Origin | kernel.Scratch) -> None:
    with pytest.raises(VerifyException):
        setattr(made(), type(record).__name__.lower(), record)
