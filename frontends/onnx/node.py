"""An ONNX node as its import function sees it, and the registry of import functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from onnx import AttributeProto, GraphProto, NodeProto, helper

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.folding.fold import Array, symbolic
from mlc.frontends.build.runtime_scalars import Scalar, is_runtime
from mlc.frontends.build.tensors import Appended, Maps, Pieces, Stack, Tensor, Value
from mlc.frontends.onnx.reading.data import TensorData
from mlc.frontends.onnx.reading.sparse import dense_tensor
from mlc.frontends.onnx.reading.types import string_of

REQUIRED: Any = object()


class Node:
    """The inputs (as tensors), attributes and opset of a node, and the builder to translate it with.

    ``node[0]`` is a required input; ``node.get(2)`` one that may be absent; ``node.ints(1)`` and friends read inputs
    that must be known at import.
    """

    def __init__(
        self,
        proto: NodeProto,
        name: str,
        opset: int,
        inputs: Sequence[Value],
        build: Builder,
        branch: Callable[[GraphProto, Sequence[Value]], list[Any]],
        choose: Callable[..., tuple[Any, ...]],
        data: TensorData,
        attempt: Callable[[Callable[[], Any]], Any],
        reimport: Callable[[str, Mapping[str, Value]], Value],
    ) -> None:
        self.proto = proto
        self.op = proto.op_type
        self.name = name
        self.opset = opset
        self.inputs = inputs
        self.build = build
        self.branch = branch  # imports a subgraph in place, given its inputs
        self.choose = choose  # (condition, makes, usual): the branch that a run-time condition says, or both (Choice)
        self.attempt = attempt  # the result of a function; None, with all effects undone, where that is not supported
        self.reimport = reimport  # the tensor of a name in the graph around it, recomputed from other values
        self.tensor, self._array = data.tensor, data.array  # read a tensor proto
        self.sparse_tensor = partial(dense_tensor, data)
        self.attributes = {a.name: a for a in proto.attribute}

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, n: int) -> Tensor:
        x = self.get(n)
        if x is None:
            raise NotSupported(f"input {n} is missing")
        return x

    def get(self, n: int) -> Tensor | None:
        x = self.inputs[n] if n < len(self.inputs) else None
        if isinstance(x, list | Maps | Stack | Appended | Pieces):
            raise NotSupported(f"input {n} is a {'map, or a sequence of maps' if isinstance(x, Maps) else 'sequence'}")
        return x

    def map(self, n: int) -> Maps:
        """Input ``n``, which is a map.

        Raises:
            NotSupported: it is absent, or something else.
        """
        x = self.inputs[n] if n < len(self.inputs) else None
        if not isinstance(x, Maps):
            raise NotSupported(f"input {n} is no map")
        return x

    def tensors(self) -> list[Tensor]:
        """All inputs of a variadic operator."""
        return [self[n] for n in range(len(self))]

    @property
    def outputs(self) -> int:
        return len(self.proto.output)

    def wants(self, n: int) -> bool:
        """Whether output ``n`` is named, so that something may read it."""
        return n < self.outputs and bool(self.proto.output[n])

    def attr(self, name: str, default: Any = REQUIRED) -> Any:
        """An attribute: int, float, str, list of them, an array (tensor) or a GraphProto."""
        if name not in self.attributes:
            if default is REQUIRED:
                raise NotSupported(f"attribute '{name}' is missing")
            return default
        attribute = self.attributes[name]
        return self._array(attribute.t) if attribute.type == AttributeProto.TENSOR else _attribute(attribute)

    def flag(self, name: str, default: int) -> bool:
        """An attribute that is 0 or 1.

        Raises:
            NotSupported: it is another number, which runtimes treat differently.
        """
        value = self.attr(name, default)
        if value not in (0, 1):
            raise NotSupported(f"attribute '{name}' = {value} is neither 0 nor 1")
        return bool(value)

    def only(self, *read: str, **fixed: Any) -> None:
        """Refuse attributes that are neither in ``read`` nor have their one supported value. No schema of ONNX states
        such limits.

        Raises:
            NotSupported: names the attribute and its value.
        """
        for name in self.attributes:
            value = self.attr(name)
            if name in fixed and value != fixed[name]:
                raise NotSupported(f"attribute '{name}' = {value} is not supported; only {fixed[name]} is")
            if name not in fixed and name not in read:
                raise NotSupported(f"attribute '{name}' = {value} is not supported; export without it")

    def has(self, n: int) -> bool:
        """Whether input ``n`` is given."""
        return n < len(self.inputs) and self.inputs[n] is not None

    def known(self, n: int) -> Array:
        """The value of input ``n``, which must be known at import.

        Raises:
            NotSupported: it is absent, or computed from data.
        """
        known = self[n].known
        if known is None:
            raise NeedsConstant(f"input {n} must be a constant or follow from shapes; it is computed at run time")
        return known

    def concrete(self, n: int) -> Array:
        """The value of input ``n``, which must be known at import and free of symbols."""
        known = self.known(n)
        if symbolic([known]):
            raise NotSupported(f"input {n} depends on a symbolic dimension; fix it with dims={{name: size}}")
        return known

    def dims(self, n: int, most: DimLike | None = None) -> list[DimLike]:
        """Input ``n`` as a list of dimensions, from 0 to ``most`` where they are computed at run time."""
        return [self.dim(v, f"element {k} of input {n}", most) for k, v in enumerate(self.runtime_scalars(n))]

    def runtime_scalars(self, n: int) -> list[DimLike]:
        """Input ``n`` as a list of integers, dimensions or run-time scalars (``is_runtime``)."""
        self._check_number(n)
        return [v if isinstance(v, Dim) else int(v) for v in self.build.scalars.of(self[n]).flat]

    def runtime_scalar(self, n: int, default: int = 0) -> DimLike:
        """Input ``n`` as one integer, dimension or run-time scalar, or the default where it is absent.

        Raises:
            NotSupported: there are several.
        """
        found = self.runtime_scalars(n) if self.has(n) else [default]
        if len(found) != 1:
            raise NotSupported(f"input {n} must be one number, not {found}")
        return found[0]

    def dim(self, number: Scalar, what: str, most: DimLike | None = None) -> DimLike:
        """A run-time scalar (or an expression of some) as a dimension; the run fails where it is not 0 to ``most``."""
        return self.build.dim(number, what, most)

    def check(self, number: Scalar, what: str) -> None:
        """The run fails, saying ``what`` is wrong, where ``number`` (or an expression of some) is below 0."""
        self.build.check(number, what)

    def ints(self, n: int) -> list[int]:
        """Input ``n`` as a list of integers, known at import and not symbolic."""
        found = self.runtime_scalars(n)
        if any(is_runtime(v) for v in found):
            raise NeedsConstant(f"input {n} must be a constant or follow from shapes; it is computed at run time")
        if not all(isinstance(v, int) for v in found):
            raise NotSupported(f"input {n} depends on a symbolic dimension; fix it with dims={{name: size}}")
        return [v for v in found if isinstance(v, int)]

    def floats(self, n: int) -> list[float]:
        """Input ``n`` as a list of numbers, known at import and not symbolic."""
        self._check_number(n)
        return [float(v) for v in self.concrete(n).flat]

    def _check_number(self, n: int) -> None:
        if self[n].element == STRING:
            raise NotSupported(f"input {n} holds strings where it takes numbers")

    def scalar(self, n: int, default: Any = REQUIRED) -> Any:
        """Input ``n`` as one concrete number known at import, or the default where it is absent."""
        if default is not REQUIRED and not self.has(n):
            return default
        known = self.concrete(n)
        if known.size != 1:
            raise NotSupported(f"input {n} must be one number, not {known.tolist()}")
        return known.reshape(()).item() if known.dtype.kind in "iufb" else float(known.reshape(()))


def _attribute(attr: AttributeProto) -> Any:
    if attr.type == AttributeProto.STRING:
        return string_of(attr.s)
    if attr.type == AttributeProto.STRINGS:
        return [string_of(s) for s in attr.strings]
    value = helper.get_attribute_value(attr)
    return value if isinstance(value, int | float | GraphProto) else list(value)


Import = Callable[[Node], Any]
Make = Callable[[Node], Sequence[Any]]  # the results of a node, as one of its branches makes them
REGISTRY: dict[tuple[str, str], list[tuple[int, Import]]] = {}


def onnx_op(*names: str, since: int = 1, domain: str = "") -> Callable[[Import], Import]:
    """Register an import function for operators, from an opset on. It returns a tensor, or a tuple of them."""

    def register(function: Import) -> Import:
        for name in names:
            versions = REGISTRY.setdefault((domain, name), [])
            versions.append((since, function))
            versions.sort(key=lambda version: version[0])
        return function

    return register


def import_function(domain: str, op: str, opset: int) -> Import | None:
    """The newest registered function that is not newer than the model's opset."""
    fitting = [f for since, f in REGISTRY.get((domain, op), ()) if since <= opset]
    return fitting[-1] if fitting else None
