"""The driver's sources of PyTorch programs: one in memory, and a file of ``torch.export.save``."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from zipfile import is_zipfile

from mlc.driver.cache import digest, digest_cache
from mlc.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.export import ExportedProgram
    from torch.fx import GraphModule

    from mlc.frontends.imported import Imported

SUFFIX = ".pt2"


class _Program:
    """The part that both sources of programs share."""

    program: ExportedProgram
    name: str

    def code(self) -> Mapping[str, str]:
        return {}

    def external_files(self) -> tuple[str, ...]:
        return ()

    def imported(self, dims: Mapping[str, int]) -> Imported:
        program = self.program  # first: it says where torch is missing
        from mlc.frontends.torch.program import import_program

        return import_program(program, dims, self.name)

    def problems(self, dims: Mapping[str, int]) -> list[str]:
        """Every reason why the program cannot be compiled, one line each."""
        program = self.program
        from mlc.frontends.torch.program import translate

        return [str(problem) for problem in translate(program, dims)[2]]

    def operators(self) -> Counter[str]:
        """How often the program calls each operator, as it was exported."""
        from mlc.frontends.torch.registry import name_of

        return Counter(name_of(node.target) for node in self.program.graph.nodes if node.op == "call_function")


@dataclass(frozen=True)
class ProgramSource(_Program):
    """An exported program. Its digest is of its graph, of the lines that it comes from, and of its weights."""

    program: ExportedProgram
    name: str
    digest: str
    kind: str = "torch program"

    @classmethod
    def of(cls, program: ExportedProgram, name: str | None = None) -> ProgramSource:
        return cls(program, name or _name_of(program), digest.of_bytes("\n".join(_parts(program)).encode()))

    @property
    def folder(self) -> Path:
        return Path()


@dataclass(frozen=True)
class FileSource(_Program):
    """A ``.pt2`` file. To load it runs code that it may bring (docs/reference/trust.md); a cached one is not loaded."""

    path: Path
    digest: str
    kind: str = "torch file"

    @classmethod
    def of(cls, path: Path) -> FileSource:
        """InputError if there is no such file."""
        try:
            return cls(path, digest_cache.of_file(path))
        except OSError as error:
            raise InputError(f"Cannot read the program {path}: {error.strerror}", stage="import") from error

    @cached_property
    def program(self) -> ExportedProgram:
        return loaded(self.path)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.path.stem

    @property
    def folder(self) -> Path:
        return self.path.parent


def loaded(path: Path) -> ExportedProgram:
    """The program in a file. InputError where torch is missing or cannot read it."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise InputError("A .pt2 file needs PyTorch", stage="import", hint="pip install 'mlc[torch]'") from error
    if not is_zipfile(path):  # torch would log a traceback
        what = f"torch.export.load cannot read {path}: it is no zip file, or is cut short"
        raise InputError(what, stage="import", hint="Write the program again by torch.export.save")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of torch's own calls
            return torch.export.load(path)
    except Exception as error:  # whatever a damaged file makes torch raise
        text = str(error).partition("\n")[0]
        raise InputError(f"torch.export.load cannot read {path}: {text}", stage="import") from error


def is_program(model: Any) -> TypeGuard[ExportedProgram]:
    """Whether it is a torch.export.ExportedProgram; torch is not imported for it."""
    kind = type(model)
    return kind.__name__ == "ExportedProgram" and kind.__module__.startswith("torch.")


def _name_of(program: ExportedProgram) -> str:
    """The class of the module, such as ``ResNet``."""
    stacks = (node.meta.get("nn_module_stack") or {} for node in program.graph.nodes)
    kinds = (kind for stack in stacks for path, kind in stack.values() if not path)
    return str(getattr(kind := next(kinds, "program"), "__name__", kind)).rpartition(".")[2]


def _parts(program: ExportedProgram) -> Iterator[str]:
    """Everything on which the graph module and its names depend, as strings."""
    import torch

    from mlc.frontends.torch.symbols import dim_names

    yield from (torch.__version__, str(program.graph_signature), str(program.range_constraints))
    yield from (str(program.call_spec), str(dim_names(program)))
    yield from graph_parts(program.graph_module)
    yield from tensor_parts({**program.state_dict, **program.constants})


def graph_parts(graph_module: GraphModule) -> Iterator[str]:
    """Nodes, types and lines of a graph and of those that it calls."""
    from torch import Tensor
    from torch.fx import GraphModule

    from mlc.frontends.torch.importer import attribute_of
    from mlc.frontends.torch.locations import location

    graphs = [module.graph for module in graph_module.modules() if isinstance(module, GraphModule)]
    for graph in graphs:
        for node in graph.nodes:
            yield f"{node.op} {node.name} {node.target} {node.args} {node.kwargs} {location(node)}"
            yield _type(node.meta.get("val"))
            if node.op == "get_attr" and isinstance(constant := attribute_of(node), Tensor):
                yield from tensor_parts({str(node.target): constant})


def tensor_parts(tensors: Mapping[str, Tensor]) -> Iterator[str]:
    """Names, types and digests of tensors."""
    for name, tensor in sorted(tensors.items()):
        yield f"{name} {_type(tensor)} {_digest(tensor)}"


def _type(val: Any) -> str:
    if not hasattr(val, "dtype"):
        return type(val).__name__
    stored = "" if val.is_contiguous() else f" {val.stride()}"  # some operators keep what depends on it
    return f"{val.dtype}{list(val.shape)}{stored}"


def _digest(tensor: Any) -> str:
    from mlc.frontends.torch.dtypes import array_of

    array = array_of(tensor)
    return digest.of_bytes(memoryview(array.reshape(-1).view("u1")) if array.flags.c_contiguous else array.tobytes())  # type: ignore[arg-type]
