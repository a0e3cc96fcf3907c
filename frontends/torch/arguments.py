"""Placeholders of torch graphs that a caller gives: tensors, and numbers that vary."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import argument
from mlc.frontends.torch.dtypes import element_of_torch
from mlc.frontends.torch.ops.math.complex import parted
from mlc.frontends.torch.symbols import Symbols


def is_argument(node: Node, symbols: Symbols) -> bool:
    """Whether a placeholder is an argument of the module: a tensor, or an integer that is not the extent of a
    tensor.
    """
    val = node.meta.get("val")
    return isinstance(val, torch.Tensor) or isinstance(val, torch.SymInt) and not symbols.knows(val)


def argument_of(build: Builder, node: Node, symbols: Symbols) -> Any:
    """A tensor as an argument, a complex one as that of its parts [.., 2]; an extent as a dimension; another integer as
    a run-time scalar, an argument of i64.

    Raises:
        NotSupported: its element type is, or it is a float that varies.
    """
    val = node.meta.get("val")
    if isinstance(val, torch.Tensor):
        if val.layout != torch.strided:
            raise NotSupported(f"a tensor of layout {val.layout}")
        shape = tuple(symbols.extent(node.name, axis, d) for axis, d in enumerate(val.shape))
        if val.dtype.is_complex:
            with build.at(node.name):
                return parted(build, argument(build, node.name, element_of_torch(val.dtype.to_real()), (*shape, 2)))
        return argument(build, node.name, element_of_torch(val.dtype), shape)
    if isinstance(val, torch.SymFloat):
        raise NotSupported("a float that varies; give it as a tensor, or as a constant")
    if not isinstance(val, torch.SymInt):
        return val
    return symbols.dim(val) if symbols.knows(val) else build.scalars.of(argument(build, node.name, "i64", ())).item()
