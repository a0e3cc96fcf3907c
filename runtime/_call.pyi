from typing import Any

class Call:
    """``Call(owner, run, model, dims, empty, ndarray, inputs, outputs)``: runs on arrays of these shapes and dtypes.

    ``owner``, the library and the dims, keeps the addresses ``run``, ``model``, ``dims`` valid; inputs and outputs are
    tuples of (name, shape, dtype), of object for strings. Of an output may follow whether it is hidden, as it has the
    size of others, and for strings of such a size the number of the output that has each extent, or -1. Calling it
    returns the output, or a tuple of several, and None where the layouts differ; ``named`` does the same by names.
    Where a run fails, both raise what the library's ``raise_failure`` does.
    """

    def __init__(
        self, owner: tuple[object, object], run: int, model: int, dims: int, empty: object, ndarray: type,
        inputs: tuple[tuple[str, Any, Any], ...], outputs: tuple[tuple[Any, ...], ...],
    ) -> None: ...  # fmt: skip
    def __call__(self, *arrays: object) -> Any: ...
    def named(self, inputs: object) -> dict[str, Any] | None: ...

def packed(objects: Any) -> bytes | None:
    """Bytes that begin with a pointer to each string of a contiguous array of objects, and contain the strings; None if
    an element is no string, or has a zero or a surrogate."""

def unpacked(pointers: Any, objects: Any) -> None:
    """Puts the string of each pointer into an array of as many objects; both are contiguous."""
