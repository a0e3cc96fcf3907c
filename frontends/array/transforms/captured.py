"""NumPy arrays that a traced function captures: within it they can be indexed by traced arrays and iterators.

    table = np.load("table.npy")
    mlc.jit(lambda i: table[i])       # NumPy would ask i for its elements, which are not known

A function is called with other globals and closure cells: its arrays as instances of ``Table``, on the same memory.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from mlc.frontends.array.array import Array, from_numpy

REBINDS = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")


class Table(np.ndarray[Any, Any]):
    """A NumPy array that a traced array can index. Such a read makes it a constant of the program."""

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(part, Array) for part in parts):
            return super().__getitem__(key)
        return self._constant()[key]

    def _constant(self) -> Array:
        """The one mlc array of a table, so that all reads share one constant."""
        found = self.__dict__.get("constant")
        if found is None:
            found = self.__dict__["constant"] = from_numpy(np.array(self))
        return found


def with_tables(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, or where it captures NumPy's arrays a function of the same code that captures ``Table``s of them."""
    if type(f) is not FunctionType:
        return f
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    arrays = {name: value for name, value in _captured(f, cells) if type(value) is np.ndarray}
    given = any(type(x) is np.ndarray for x in f.__defaults__ or ())
    if not (arrays or given) or _rebinds(f.__code__):
        return f
    tables = {name: value.view(Table) for name, value in arrays.items()}
    closure = tuple(CellType(tables[name]) if name in tables else cell for name, cell in cells.items())
    own = {name: table for name, table in tables.items() if name not in cells}
    defaults = tuple(x.view(Table) if type(x) is np.ndarray else x for x in f.__defaults__ or ())
    made = FunctionType(f.__code__, f.__globals__ | own if own else f.__globals__, f.__name__, defaults, closure)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def _captured(f: FunctionType, cells: dict[str, CellType]) -> Iterator[tuple[str, Any]]:
    """The variables from outside that the code of ``f`` and of functions in it names, and their values."""
    for name in _global_names(f.__code__):
        if name in f.__globals__:
            yield name, f.__globals__[name]
    for name, cell in cells.items():
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue


@lru_cache(maxsize=4096)
def _global_names(code: CodeType) -> frozenset[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(code.co_names).union(*map(_global_names, inner))


@lru_cache(maxsize=4096)
def _rebinds(code: CodeType) -> bool:
    """Whether the code binds variables from outside anew, which its caller must see."""
    own = {*code.co_cellvars}
    found = any(i.opname in REBINDS and i.argval not in own for i in dis.get_instructions(code))
    return found or any(_rebinds(each) for each in code.co_consts if isinstance(each, CodeType))
