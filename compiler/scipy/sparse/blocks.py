"""Sparse matrices of dense blocks. Source: ``scipy.sparse.bsr_array``."""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.scipy.sparse.compressed import FIELDS, Sparse, csr_array
from mlc.scipy.sparse.structure import known


class bsr_array(Sparse):
    """A matrix of blocks by rows: ``data`` [n, r, c], block columns ``indices`` [n], and for each row of blocks
    ``indptr`` [rows / r + 1]. A product is one of small dense matrices."""

    def __init__(
        self, given: Any, shape: tuple[int, int] | None = None, blocksize: tuple[int, int] | None = None
    ) -> None:
        """``given``: ``(data, indices, indptr)``, SciPy's, or a dense matrix with ``blocksize``, whose blocks of zeros
        are left out.

        Raises:
            InputError: it is none of these, the blocks do not divide the matrix, or the shape is missing.
        """
        if hasattr(given, "indptr") and not isinstance(given, tuple):
            given, shape = (given.data, given.indices, given.indptr), given.shape
        if not isinstance(given, tuple):
            given, shape = _of_dense(given, blocksize)
        self.data, indices, indptr = (as_array(x) for x in given)
        if self.data.ndim != 3 or shape is None or any(n % b for n, b in zip(shape, self.data.shape[1:], strict=True)):
            what = f"Blocks of shape {list(self.data.shape)} do not divide a matrix of shape {shape}"
            raise InputError(what, hint="Give data [n, r, c], and shape=(rows, columns) of multiples of r and c")
        rows, columns = (int(n) // b for n, b in zip(shape, self.blocksize, strict=True))
        blocks = csr_array((mnp.zeros((indices.shape[0],)), indices, indptr), (rows, columns))
        self.indices, self.indptr, self.major = blocks.indices, blocks.indptr, blocks.major
        self.shape = (int(shape[0]), int(shape[1]))

    major: Array

    @property
    def blocksize(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return int(self.data.shape[-2]), int(self.data.shape[-1])  # type: ignore[arg-type]

    def with_data(self, data: Any) -> bsr_array:
        """The matrix of other blocks [n, r, c] at the same positions."""
        made = object.__new__(bsr_array)
        vars(made).update(vars(self), data=as_array(data))
        return made

    def __matmul__(self, other: Any) -> Array:
        """With a vector [columns] or a matrix [columns, n]."""
        return self._times(self.data, self.major, self.indices, self.shape, other)

    def __rmatmul__(self, other: Any) -> Array:
        blocks, given = mnp.matrix_transpose(self.data), as_array(other)
        x = given if given.ndim == 1 else mnp.matrix_transpose(given)
        found = self._times(blocks, self.indices, self.major, self.shape[::-1], x)
        return found if given.ndim == 1 else found.T

    def _times(self, blocks: Array, rows: Array, columns: Array, shape: tuple[int, int], other: Any) -> Array:
        x = as_array(other)
        if x.ndim not in (1, 2) or x.shape[0] != shape[1]:
            what = f"bsr_array of shape {list(shape)} cannot be multiplied with {list(x.shape)}"
            raise InputError(what, hint=f"Give [{shape[1]}] or [{shape[1]}, n]; more dimensions by mlc.vmap")
        r, c = (int(n) for n in blocks.shape[1:])  # type: ignore[arg-type]
        parts = mnp.reshape(x, (shape[1] // c, c, -1))[columns]
        terms = blocks @ parts
        start = mnp.zeros((shape[0] // r, r, terms.shape[-1]), dtype=terms.dtype)
        return mnp.reshape(start.at[rows].add(terms), (shape[0], *x.shape[1:]))

    @property
    def T(self) -> bsr_array:
        """The transposed matrix, whose blocks are sorted anew."""
        order = mnp.argsort(self.indices, stable=True)
        counts = mnp.arange(self.shape[1] // self.blocksize[1] + 1, dtype=self.indices.dtype)
        pointers = mnp.searchsorted(self.indices[order], counts, side="left").astype(self.indices.dtype)
        made = object.__new__(bsr_array)
        vars(made).update(indices=self.major[order], indptr=pointers, major=self.indices[order])
        vars(made).update(data=mnp.matrix_transpose(self.data)[order], shape=self.shape[::-1])
        return made

    def toarray(self) -> Array:
        """[rows, columns], with zeros where no block is stored."""
        (rows, columns), (r, c) = self.shape, self.blocksize
        start = mnp.zeros((rows // r, columns // c, r, c), dtype=self.dtype)
        filled = start.at[self.major, self.indices].add(self.data)
        return mnp.reshape(mnp.permute_dims(filled, (0, 2, 1, 3)), self.shape)

    todense = toarray


def _of_dense(given: Any, blocksize: tuple[int, int] | None) -> tuple[tuple[Any, ...], tuple[int, int]]:
    dense = as_array(given)
    if dense.ndim != 2 or blocksize is None or any(n % b for n, b in zip(dense.shape, blocksize, strict=True)):
        what = f"A bsr_array of blocks {blocksize} cannot be made of shape {list(dense.shape)}"
        raise InputError(what, hint="Give a matrix, and blocksize=(r, c) that divides its rows and columns")
    rows, columns = (int(n) for n in dense.shape)  # type: ignore[arg-type]
    r, c = blocksize
    blocks = mnp.permute_dims(mnp.reshape(dense, (rows // r, r, columns // c, c)), (0, 2, 1, 3))
    at = np.nonzero(known(mnp.any(blocks != 0, axis=(2, 3)), "bsr_array"))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(at[0], minlength=rows // r))])
    return (blocks[at], at[1], pointers), (rows, columns)


trees.register_fields(bsr_array, FIELDS, ("shape",))
