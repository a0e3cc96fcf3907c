"""The rules that hold the tree together: who imports whom, what a stage's folder shows, which folders are packages."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from mlc.pipelines import STAGES
from mlc.universe import PASSES

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "dialects": "mlc.dialects",
    "passes": "mlc.passes",
    "frontends": "mlc.frontends",
    "runtime": "mlc.runtime",
    "compiler": "mlc",
}
LEAVES = {"mlc.errors": "errors", "mlc.expressions": "expressions", "mlc.target": "target"}
"""Modules that are packages of their own: errors, which all raise, the parser of expressions, and targets, whose facts
passes read."""
MAY_IMPORT = {
    "errors": set[str](),
    "expressions": set(),
    "target": {"errors"},
    "runtime": {"errors", "expressions"},
    "dialects": {"errors", "expressions"},
    "passes": {"dialects", "errors", "target"},
    "frontends": {"dialects", "errors", "expressions"},
}
"""``dialects`` ← ``passes``, ``frontends`` ← ``compiler``, which may import all."""
CALLS_THE_COMPILER = {"frontends/onnx/backend.py"}  # the onnx.backend is a user's interface
MOST_FILES = 12  # in a folder of passes, the driver or frontends, beside __init__.py
MOST_LINES = 250  # of a file of frontends


def sources(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, folder
    return found


def imports(path: Path, loading: bool = False) -> Iterator[str]:
    """Every module and name that a file imports, as ``mlc.dialects.graph.MapOp``; within functions too, or ``loading``
    it."""
    tree = ast.parse(path.read_text())
    for node in tree.body if loading else ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: imports are absolute"
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def package_of(name: str) -> str:
    """The package that has ``mlc.…``."""
    homes = {**LEAVES, **{module: folder for folder, module in PACKAGES.items()}}
    return next(package for module, package in homes.items() if within(name, module))


@pytest.mark.parametrize("folder", [*(folder for folder in PACKAGES if folder != "compiler"), "compiler/target"])
def test_imports_run_one_way(folder: str) -> None:
    for path in sources(folder):
        name = path.relative_to(ROOT).as_posix()
        top, *below = path.relative_to(ROOT).with_suffix("").parts
        here = package_of(".".join([PACKAGES[top], *below]))
        imported = {package_of(each) for each in imports(path, here == "target") if within(each, "mlc")}
        wrong = imported - MAY_IMPORT[here] - {here} - ({"compiler"} if name in CALLS_THE_COMPILER else set())
        assert not wrong, f"{name} imports {sorted(wrong)}"


@pytest.mark.parametrize(
    "folder, forbidden",
    [
        ("runtime", ["onnx", "xdsl", "islpy"]),
        ("dialects", ["onnx", "islpy"]),
        ("passes", ["onnx"]),
        ("passes/graph", ["islpy", "mlc.target"]),
        ("frontends/build", ["onnx", "mlc.frontends.onnx"]),
    ],
)
def test_what_a_folder_does_not_know(folder: str, forbidden: list[str]) -> None:
    for path in sources(folder):
        found = [name for name in imports(path) for module in forbidden if within(name, module)]
        assert not found, f"{path.relative_to(ROOT)} imports {found}"


@pytest.mark.parametrize("folder", PACKAGES)
def test_isl_calls_no_function(folder: str) -> None:
    """An exception in a function that isl calls, as of Ctrl-C, is lost, and a node of isl's is freed twice."""
    calling = re.compile(
        r"\.(foreach_\w+|get_pieces|map_descendant_bottom_up|every_\w+|set_(at|before|after)_each_\w+)\("
    )
    for path in sources(folder):
        if "islpy" in (text := path.read_text()):
            assert not calling.findall(text), path


MOST_IN_A_CIRCLE = 20  # modules that import each other


def modules() -> dict[str, Path]:
    """All modules by name; a package is its __init__.py."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in sources(folder):
            parts = [package, *path.relative_to(ROOT / folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, those of functions too, but not what only a type checker reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from statements(child)


def import_graph() -> dict[str, set[str]]:
    """Which modules each module imports, at once or when a function runs."""
    known = modules()
    graph: dict[str, set[str]] = {}
    for module, path in known.items():
        names = [name for node in statements(ast.parse(path.read_text())) for name in imported_names(node)]
        graph[module] = {name if name in known else name.rpartition(".")[0] for name in names} & known.keys()
    return graph


def imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{name.name}" for name in node.names]
    return [name.name for name in node.names] if isinstance(node, ast.Import) else []


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of a graph (Kosaraju, as in Aho, Hopcroft and Ullman, 1983)."""

    def visited(start: str, edges: Mapping[str, set[str]], seen: set[str]) -> Iterator[str]:
        """The nodes that can be reached and are not seen yet, each after those that it reaches."""
        waiting = [(start, iter(edges[start]))]
        seen.add(start)
        while waiting:
            node, rest = waiting[-1]
            found = next((each for each in rest if each not in seen), None)
            if found is None:
                yield waiting.pop()[0]
            else:
                seen.add(found)
                waiting.append((found, iter(edges[found])))

    order: list[str] = []
    seen: set[str] = set()
    for node in graph:
        order += [] if node in seen else visited(node, graph, seen)
    readers: dict[str, set[str]] = {node: set() for node in graph}
    for node, imported in graph.items():
        for each in imported:
            readers[each].add(node)
    seen = set()
    return [set(visited(node, readers, seen)) for node in reversed(order) if node not in seen]


def test_no_circle_of_imports_is_large() -> None:
    for circle in circles(import_graph()):
        assert len(circle) <= MOST_IN_A_CIRCLE, f"{len(circle)} modules import each other: {sorted(circle)}"


def test_the_search_for_circles_finds_them() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"f", "e"}}
    assert sorted(map(sorted, circles(graph))) == [["a", "b", "c"], ["d"], ["e"], ["f"]]


def test_targets_import_neither_passes_nor_backends() -> None:
    for path in sources("compiler/target"):
        found = [name for name in imports(path) if within(name, "mlc.passes") or within(name, "mlc.pipelines")]
        assert not found, f"{path.relative_to(ROOT)} imports {found}; what mlc builds for a target is in its backend"


TRIALS = {"passes/fuse/autodiff/saving/planned.py"}  # runs later passes on a copy, to measure what a choice costs
ORDER = [{"code": "codegen"}.get(stage, stage) for stage in STAGES if stage != "import"]


@pytest.mark.parametrize("stage", ORDER)
def test_a_stage_knows_no_later_one(stage: str) -> None:
    later = [f"mlc.passes.{name}" for name in ORDER[ORDER.index(stage) + 1 :]]
    for path in sources(f"passes/{stage}"):
        if path.relative_to(ROOT).as_posix() in TRIALS:
            continue
        found = [name for name in imports(path) for module in later if within(name, module)]
        assert not found, f"{path.relative_to(ROOT)} imports {found}"


def test_cost_models_know_no_stage_but_the_statements_of_the_schedule() -> None:
    for path in sources("passes/cost"):
        stages = [name for name in imports(path) for stage in ORDER if within(name, f"mlc.passes.{stage}")]
        found = [each for each in stages if not within(each, "mlc.passes.schedule")]
        assert not found, f"{path.relative_to(ROOT)} imports {found}"


def folders() -> list[Path]:
    """Every folder of a package that has Python files."""
    return [
        path
        for folder in PACKAGES
        for path in [ROOT / folder, *(ROOT / folder).rglob("*")]
        if path.is_dir() and any(path.glob("*.py"))
    ]


def test_the_package_list_is_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    names = [
        ".".join([PACKAGES[path.relative_to(ROOT).parts[0]], *path.relative_to(ROOT).parts[1:]]) for path in folders()
    ]
    assert listed == sorted(names)
    assert all((path / "__init__.py").exists() for path in folders())


PASS_FOLDERS = sorted(path.parent for path in (ROOT / "passes").glob("*/__init__.py") if path.parent.name != "cost")


@pytest.mark.parametrize("stage", PASS_FOLDERS, ids=lambda path: path.name)
def test_a_stage_shows_its_passes(stage: Path) -> None:
    """A file beside passes is one pass of the file's name, or prints (``emit_c``); helpers have own folders."""
    for path in stage.rglob("*.py"):
        classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        passes = [node.name for node in classes for base in node.bases if ast.unparse(base) == "ModulePass"]
        folder = path.parent.relative_to(ROOT / "passes").as_posix().replace("/", ".")
        if (folder in PASSES or path.parent == stage) and path.stem not in ("__init__", "emit_c"):
            assert passes == ["".join(map(str.capitalize, path.stem.split("_")))], path
        else:
            assert not passes, path


@pytest.mark.parametrize("top", [*PASS_FOLDERS, ROOT / "compiler" / "driver"], ids=lambda path: path.name)
def test_a_folder_is_read_at_a_glance(top: Path) -> None:
    for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= MOST_FILES, folder


FRONTENDS = sorted(path for path in (ROOT / "frontends").rglob("*") if (path / "__init__.py").exists())


@pytest.mark.parametrize("folder", FRONTENDS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_folders_and_files_of_frontends_are_small(folder: Path) -> None:
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(files) <= MOST_FILES, f"{len(files)} files in {folder.relative_to(ROOT)}; group them by meaning"
    for path in files:
        lines = len(path.read_text().splitlines())
        assert lines <= MOST_LINES, f"{path.relative_to(ROOT)} has {lines} lines"


def functions(folder: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sources(folder):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}", node


def test_operators_take_typed_parameters() -> None:
    """What operators compute is no reading of attributes: no parameter is a node, a dictionary or anything at all."""
    for name, function in functions("frontends/build/ops"):
        parameters = [*function.args.args, *function.args.kwonlyargs]
        types = {p.arg: ast.unparse(p.annotation) for p in parameters if p.annotation}
        assert len(types) == len(parameters) and not function.args.kwarg or name.endswith(": activation"), name
        wrong = [p for p, t in types.items() if p == "node" or t == "Any" or t.startswith(("dict", "Mapping"))]
        assert not wrong or function.name.startswith("_"), f"{name} takes {wrong}"


def test_every_operator_has_a_docstring() -> None:
    for name, function in functions("frontends/build/ops"):
        assert function.name.startswith("_") or ast.get_docstring(function), name


def terms() -> list[str]:
    """The terms of the glossary."""
    tables = (ROOT / "docs" / "glossary.md").read_text().partition("## Words not to use")[0]
    cells = re.findall(r"^\| ([^|`]+) \|", tables, re.M)
    return [term.strip() for cell in cells if cell != "term" for term in cell.split(",")]


@pytest.mark.parametrize(
    "path",
    [path for each in PASS_FOLDERS for path in sorted(each.glob("*.py")) if path.stem not in ("__init__", "emit_c")],
    ids=lambda path: path.stem,
)
def test_a_pass_opens_with_the_term_of_the_field(path: Path) -> None:
    """``Constant folding (``fold-constants``): …``; a pass that is no verifier shows before → after."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    opening, colon, _ = text.partition(":")
    assert colon and f"``{path.stem.replace('_', '-')}``" in opening, opening
    assert any(re.search(rf"\b{re.escape(term)}(e?s)?\b", opening, re.I) for term in terms()), opening
    assert "→" in text or path.stem.startswith("verify_"), path


@pytest.mark.parametrize(
    "folder",
    sorted(
        path
        for top in ("unit", "filecheck")
        for path in (ROOT / "test" / top).rglob("*")
        if path.is_dir()
        and any(child.suffix in (".py", ".mlir") and child.stem != "conftest" for child in path.iterdir())
    ),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_folders_of_tests_mirror_the_packages(folder: Path) -> None:
    """A folder ``torch`` would be imported in place of PyTorch where that is not installed: it is ``torch_…``."""
    tested = ROOT.joinpath(*(re.sub("^torch_.*", "torch", part) for part in folder.relative_to(ROOT).parts[2:]))
    alike = [tested, ROOT / "runtime" / "c" / folder.name, folder.parent / "test_golden.py"]
    assert any(path.exists() for path in alike), f"{folder.relative_to(ROOT)} tests no folder of the project"
