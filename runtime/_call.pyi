from typing import Any

class Call:
    """``Call(owner, run, model, dims, empty, ndarray, inputs, outputs)``: runs on arrays of these shapes and dtypes.

    ``owner`` keeps the addresses ``run``, ``model``, ``dims`` valid; inputs and outputs are tuples of
    (name, shape, dtype). Calling it returns the output, or a tuple of several, and None where
    the layouts differ; ``named`` does the same by names.
    """

    def __init__(
        self, owner: object, run: int, model: int, dims: int, empty: object, ndarray: type,
        inputs: tuple[tuple[str, Any, Any], ...], outputs: tuple[tuple[str, Any, Any], ...],
    ) -> None: ...  # fmt: skip
    def __call__(self, *arrays: object) -> Any: ...
    def named(self, inputs: object) -> dict[str, Any] | None: ...
