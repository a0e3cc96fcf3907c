"""Sparse matrices by rows and by columns. Source: ``scipy.sparse.csr_array`` and ``csc_array``.

A matrix is a tree of its arrays, so ``mlc.jit``, ``mlc.vmap`` and loops take and return it. Products are a gather and a
sum into rows, so they have derivatives by the values and by the dense operand.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

import mlc.numpy as mnp
from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.scipy.sparse.structure import Structure, compressed, known_entries, merged, product_entries, structure


class Sparse:
    """A matrix [rows, columns] whose values are ``data``; subclasses say where the values are."""

    shape: tuple[int, int]
    data: Array
    indices: Array
    indptr: Array
    ndim = 2
    __array_ufunc__ = None  # NumPy leaves operators with its arrays to this class

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """How many values are stored."""
        return int(product(self.data.shape))  # type: ignore[arg-type]

    def __matmul__(self, other: Any) -> Any:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        hint = "Use A.toarray()[...], or products with unit vectors"
        raise InputError(f"{type(self).__name__} has no elements by index", hint=hint)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.dtype} {list(self.shape)}, {self.nnz} stored values>"


class Compressed(Sparse):
    """Values sorted by rows or by columns; entries of equal position count as their sum."""

    by_rows: ClassVar[bool]
    major: Array

    def __init__(self, given: Any, shape: tuple[int, int] | None = None, dtype: Any = None) -> None:
        """``given``: a dense matrix, a sparse one of this or SciPy's kind, ``(data, indices, indptr)``, or
        ``(data, (rows, columns))``, of which equal positions are added.

        Raises:
            InputError: it is none of these, an index is outside, or the shape is missing or wrong.
        """
        data, known, self.shape = structure(given, shape, self.by_rows, type(self).__name__)
        values = as_array(data)
        self.data = values if dtype is None else values.astype(dtype)
        self.indices, self.indptr, self.major = known

    def __init_subclass__(cls) -> None:
        trees.register_fields(cls, FIELDS, ("shape",))

    @property
    def coords(self) -> tuple[Array, Array]:
        """Row and column [nnz] of each value."""
        return (self.major, self.indices) if self.by_rows else (self.indices, self.major)

    def with_data(self, data: Any) -> Self:
        """The matrix of other values [nnz] at the same positions: what gradients by the values are taken of.

        Raises:
            InputError: another number of values.
        """
        values = as_array(data)
        if tuple(values.shape) != tuple(self.data.shape):
            what = f"{type(self).__name__} of {self.nnz} values was given values of shape {list(values.shape)}"
            raise InputError(what, hint="Give one value for each stored position, in the order of A.data")
        made = object.__new__(type(self))
        vars(made).update(vars(self), data=values)
        return made

    def __matmul__(self, other: Any) -> Any:
        """With a vector [columns] or a matrix [columns, n]; with a sparse matrix a sparse one, whose positions must be
        known while a function is traced."""
        if isinstance(other, Compressed):
            return self._times_sparse(other)
        return self._times(self.coords, self.shape[0], other)

    def __rmatmul__(self, other: Any) -> Array:
        rows, columns = self.coords
        given = as_array(other)
        if given.ndim == 1:
            return self._times((columns, rows), self.shape[1], given)
        return self._times((columns, rows), self.shape[1], mnp.matrix_transpose(given)).T

    def _times(self, coords: tuple[Array, Array], count: int, other: Any) -> Array:
        rows, columns = coords
        x = as_array(other)
        wanted = self.shape[0] + self.shape[1] - count
        if x.ndim not in (1, 2) or x.shape[0] != wanted:
            what = f"{type(self).__name__} of shape {list(self.shape)} cannot be multiplied with {list(x.shape)}"
            raise InputError(what, hint=f"Give [{wanted}] or [{wanted}, n]; more dimensions by mlc.vmap")
        terms = (self.data if x.ndim == 1 else self.data[:, None]) * x[columns]
        return mnp.zeros((count, *x.shape[1:]), dtype=terms.dtype).at[rows].add(terms)

    def _times_sparse(self, other: Compressed) -> csr_array:
        if self.shape[1] != other.shape[0]:
            what = f"Matrices of shapes {list(self.shape)} and {list(other.shape)} cannot be multiplied"
            raise InputError(what, hint="The columns of the first are the rows of the second")
        left, right = self.tocsr(), other.tocsr()
        first, second, coords = product_entries(left, right)
        return _assembled(left.data[first] * right.data[second], coords, (self.shape[0], other.shape[1]))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Compressed):
            return self.toarray() + other
        if self.shape != other.shape:
            what = f"Matrices of shapes {list(self.shape)} and {list(other.shape)} cannot be added"
            raise InputError(what, hint="Give matrices of one shape")
        coords = np.concatenate([known_entries(self), known_entries(other)], axis=1)
        return _assembled(mnp.concat([self.data, other.data]), coords, self.shape)

    __radd__ = __add__

    def __neg__(self) -> Self:
        return self.with_data(-self.data)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Self:
        """With a number, or elementwise with an array that broadcasts to the matrix."""
        return self.with_data(self.data * self._at_entries(other))

    __rmul__ = multiply = __mul__

    def __truediv__(self, other: Any) -> Self:
        return self.with_data(self.data / self._at_entries(other))

    def _at_entries(self, other: Any) -> Array:
        if isinstance(other, Sparse):
            hint = "Multiply with B.toarray(); the matrix product is A @ B"
            raise InputError("Two sparse matrices are not multiplied elementwise", hint=hint)
        given = as_array(other, self.data.element)
        if given.ndim == 0:
            return given
        rows, columns = self.coords
        return mnp.broadcast_to(given, self.shape)[rows, columns]

    def toarray(self) -> Array:
        """[rows, columns], with zeros where nothing is stored."""
        return mnp.zeros(self.shape, dtype=self.dtype).at[self.coords].add(self.data)

    todense = toarray

    @property
    def T(self) -> Compressed:
        """The transposed matrix, by columns where this one is by rows, of the same arrays."""
        return self.transpose()

    def transpose(self) -> Compressed:
        """As ``T``."""
        made: Any = object.__new__(csc_array if self.by_rows else csr_array)
        vars(made).update(vars(self), shape=self.shape[::-1])
        return made

    def tocsr(self) -> csr_array:
        """By rows: a sort of the entries where this is by columns."""
        return self if isinstance(self, csr_array) else self._sorted(csr_array)

    def tocsc(self) -> csc_array:
        """By columns."""
        return self if isinstance(self, csc_array) else self._sorted(csc_array)

    def _sorted(self, kind: type[Any]) -> Any:
        order = mnp.argsort(self.indices, stable=True)
        made = object.__new__(kind)
        known: Structure = compressed(self.indices[order], self.major[order], self.shape[0 if kind.by_rows else 1])
        vars(made).update(zip(("indices", "indptr", "major"), known, strict=True))
        vars(made).update(data=self.data[order], shape=self.shape)
        return made

    def sum(self, axis: int | None = None) -> Array:
        """The sum of all values, of each column (``axis=0``) or of each row (``axis=1``)."""
        if axis is None:
            return mnp.sum(self.data)
        at, size = self.coords[1 - axis % 2], self.shape[1 - axis % 2]
        return mnp.zeros((size,), dtype=self.dtype).at[at].add(self.data)

    def diagonal(self) -> Array:
        """[min(rows, columns)]"""
        rows, columns = self.coords
        values = mnp.where(rows == columns, self.data, mnp.zeros_like(self.data))
        return mnp.zeros((min(self.shape),), dtype=self.dtype).at[mnp.minimum(rows, columns)].add(values)

    def astype(self, dtype: Any) -> Self:
        """The matrix with values of another type."""
        return self.with_data(self.data.astype(dtype))

    def to_scipy(self) -> Any:
        """The matrix as SciPy's of the same format."""
        import scipy.sparse

        parts = [np.asarray(x) for x in (self.data, self.indices, self.indptr)]
        return getattr(scipy.sparse, type(self).__name__)(tuple(parts), shape=self.shape)


FIELDS = ("data", "indices", "indptr", "major")


class csr_array(Compressed):
    """A matrix by rows: ``data`` and columns ``indices`` [nnz] in the order of rows, of which row i has the entries
    ``indptr[i]`` to ``indptr[i + 1]``."""

    by_rows = True


class csc_array(Compressed):
    """A matrix by columns: ``data`` and rows ``indices`` [nnz], of which column j has the entries ``indptr[j]`` to
    ``indptr[j + 1]``."""

    by_rows = False


def _assembled(data: Array, coords: np.ndarray[Any, Any], shape: tuple[int, int]) -> csr_array:
    """The matrix of values at rows and columns, those of equal position added."""
    (rows, columns), at = merged(coords, shape)
    values = mnp.zeros((len(rows),), dtype=data.dtype).at[at].add(data)
    return csr_array((values, (rows, columns)), shape)
