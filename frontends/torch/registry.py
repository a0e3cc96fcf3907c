"""A call of an ATen operator as its translation sees it, and the registry of translations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.runtime_scalars import is_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import common_element, element_of_torch

Translation = Callable[..., Any]
Subgraph = Callable[[GraphModule, Sequence[Any]], list[Any]]
Operand = Tensor | Dim | float
"""A tensor or a number; a number may be a symbolic dimension."""
REGISTRY: dict[str, Translation] = {}


class Call:
    """The builder to translate a call with, and the type that torch gives its result."""

    def __init__(self, build: Builder, node: Node, graph: Subgraph, values: Mapping[Node, Any]) -> None:
        self.build = build
        self.node = node
        self.graph = graph  # translates a graph module in place, given its arguments
        self.values = values  # of the nodes before
        self.elements = _elements(node.meta.get("val"))

    @property
    def op(self) -> str:
        """The operator's name, without its overload."""
        return name_of(self.node.target)

    @property
    def element(self) -> str:
        """The element of the first result."""
        return self.elements[0]

    @property
    def gives_complex(self) -> bool:
        """Whether its result is a complex tensor."""
        return bool(self.node.meta["val"].dtype.is_complex)

    def wants(self, n: int) -> bool:
        """Whether result ``n`` of several is read."""
        return any(user.args[1] == n for user in self.node.users)

    def tensor(self, x: Operand, element: str | None = None) -> Tensor:
        """``x`` as a tensor of ``element``, or else of the result's."""
        element = element or self.element
        if isinstance(x, Tensor):
            return self.build.cast(x, element)
        if isinstance(x, Dim):
            return self.build.cast(number_of(self.build, x), element)
        return Tensor.from_known(np.asarray(x).astype(numpy_dtype(element)), element)

    def tensors(self, *xs: Operand) -> list[Tensor]:
        """Operands in the element of the result."""
        return [self.tensor(x) for x in xs]

    def scaled(self, expr: str, *xs: Operand) -> Tensor:
        """``build.formula`` of operands in the element of the result. Beside 16 bits a number or a wider scalar stays
        f32, as in torch's kernels of products and quotients; those of sums round it to 16 bits."""
        if self.element not in ("f16", "bf16") or not any(map(self._is_wide, xs)):
            return self.build.formula(expr, *self.tensors(*xs))
        return self.build.cast(self.build.map(expr, *(self.tensor(x, "f32") for x in xs)), self.element)

    def _is_wide(self, x: Operand) -> bool:
        return not isinstance(x, Tensor) or (x.rank == 0 and x.element in ("f32", "f64"))

    def promoted(self, *xs: Operand) -> list[Tensor]:
        """Operands in the element that torch promotes them to."""
        element = common_element(xs)
        return [self.tensor(x, element) for x in xs]

    def predicate(self, x: Operand) -> Tensor:
        """Whether elements are not zero."""
        x = x if isinstance(x, Tensor) else self.promoted(x)[0]
        return x if x.element == "i1" else self.build.map("x0 != 0", x)

    def extents(self, size: Sequence[DimLike]) -> list[DimLike]:
        """A shape whose run-time scalars become dimensions, checked at run time."""
        return [self.build.dim(d, f"extent {n}") for n, d in enumerate(size)]

    def axes(self, x: Tensor, dim: int | list[int] | None) -> list[int]:
        """The axes that ``dim`` names, all where it names none."""
        given = [dim] if isinstance(dim, int) else dim
        return [normalize_axis(a, x.rank) for a in given] if given and x.rank else list(range(x.rank))

    def is_real(self) -> bool:
        """Whether the result holds floats."""
        return is_float(self.element)


def number_of(build: Builder, x: Dim) -> Tensor:
    """A dimension, or an expression of run-time scalars, as a tensor of i64 without dimensions."""
    return build.compute(f"i64({x})", [], ()) if is_runtime(x) else build.reshape(Tensor.of_dims([x]), ())


def _elements(val: Any) -> list[str]:
    """The elements of the tensors that a node gives; of complex ones those of their parts."""
    items = val if isinstance(val, tuple | list) else [val]
    dtypes = [each.dtype for each in items if hasattr(each, "dtype")]
    return [element_of_torch(dtype.to_real() if dtype.is_complex else dtype) for dtype in dtypes]


def aten(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation for ATen operators, ``relu``, or for one overload, ``max.dim``.

    Higher-order operators are ``higher_order.cond``. A translation takes the call and the operator's arguments, tensors
    as ``Tensor``, and gives a tensor or several, in any element type: results are cast to what torch says.
    """

    def register(function: Translation) -> Translation:
        REGISTRY.update(dict.fromkeys(names, function))
        return function

    return register


def name_of(target: Any) -> str:
    """``relu`` of torch.ops.aten.relu.default; of other operators and functions with their namespace."""
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target.name()}"
    schema = getattr(target, "_schema", None)
    return schema.name.removeprefix("aten::") if schema else getattr(target, "__name__", str(target))


def translation_of(target: Any) -> Translation | None:
    """The translation of an operator's overload, if there is one."""
    if isinstance(target, HigherOrderOperator):
        return REGISTRY.get(name_of(target))
    name, overload = name_of(target), getattr(target, "_overloadname", None)
    return None if overload is None else REGISTRY.get(f"{name}.{overload}") or REGISTRY.get(name)
