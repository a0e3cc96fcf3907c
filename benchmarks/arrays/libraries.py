"""What the programs need of a library beside its namespace ``np``: loops, derivatives and ensembles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NumPy:
    name = "numpy"

    def __init__(self) -> None:
        import numpy

        self.np = numpy

    def fori(self, count: int, body: Callable[[Any, Any], Any], state: Any) -> Any:
        for n in range(count):
            state = body(n, state)
        return state

    def scan(self, f: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any) -> tuple[Any, Any]:
        collected = []
        for x in zip(*xs, strict=True) if isinstance(xs, tuple) else xs:
            state, y = f(state, x)
            collected.append(y)
        return state, self.np.stack(collected)

    def compiled(self, f: Callable[..., Any], arrays: list[Any]) -> Callable[[], Any]:
        return lambda: f(self, *arrays)


class Jax(NumPy):
    name = "jax"

    def __init__(self) -> None:
        import jax
        import jax.numpy

        jax.config.update("jax_platforms", "cpu")
        self.jax, self.np = jax, jax.numpy
        self.grad, self.vmap, self.jacfwd = jax.grad, jax.vmap, jax.jacfwd

    def fori(self, count: int, body: Callable[[Any, Any], Any], state: Any) -> Any:
        return self.jax.lax.fori_loop(0, count, body, state)

    def scan(self, f: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any) -> tuple[Any, Any]:
        return self.jax.lax.scan(f, state, xs)

    def compiled(self, f: Callable[..., Any], arrays: list[Any]) -> Callable[[], Any]:
        run, given = self.jax.jit(lambda *xs: f(self, *xs)), [self.jax.device_put(x) for x in arrays]
        return lambda: self.jax.block_until_ready(run(*given))


class Mlc(NumPy):
    name = "mlc"

    def __init__(self) -> None:
        import mlc
        import mlc.numpy

        self.mlc, self.np = mlc, mlc.numpy
        for name in ("grad", "vmap", "jacfwd", "scan"):
            setattr(self, name, getattr(mlc, name, None))

    def fori(self, count: int, body: Callable[[Any, Any], Any], state: Any) -> Any:
        return self.mlc.fori_loop(0, count, body, state)

    def compiled(self, f: Callable[..., Any], arrays: list[Any]) -> Callable[[], Any]:
        run = self.mlc.jit(lambda *xs: f(self, *xs), wait=True)
        return lambda: run(*arrays)


LIBRARIES: tuple[type[NumPy], ...] = (NumPy, Jax, Mlc)
