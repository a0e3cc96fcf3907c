"""Runs programs of nested transforms on mlc and on JAX, and compares: ``transform_programs.py [--seed N] [NAME ...]``.

Programs are written once, for a framework and its array module. Compared are the structure, shapes, types and values
of results. A name selects the programs that begin with it. Needs JAX.
"""

from __future__ import annotations

import sys
import warnings
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import programs_of_batches
import programs_of_derivatives
import programs_of_loops
import programs_of_rules
from program_runs import run
from transform_table import PROGRAMS

import mlc
import mlc.lax
import mlc.nn
import mlc.numpy as mnp
import mlc.scipy

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
MODULES = (programs_of_derivatives, programs_of_loops, programs_of_rules, programs_of_batches)
LAX = (
    *("scan", "cond", "switch", "while_loop", "fori_loop", "map", "associative_scan", "stop_gradient", "top_k"),
    *("cummax", "cummin", "cumlogsumexp", "dynamic_slice", "dynamic_update_slice", "dynamic_index_in_dim"),
    *("dynamic_slice_in_dim", "dynamic_update_index_in_dim"),
)
OWN = (
    *("grad", "value_and_grad", "jit", "vmap", "jvp", "vjp", "linearize", "hessian", "jacfwd", "jacrev", "custom_jvp"),
    "custom_vjp",
)


def framework(module: Any, lax: Any, special: Any, sign: int) -> SimpleNamespace:
    """``sign`` is that of the imaginary part of a gradient by complex numbers."""
    names = {name: getattr(module, name) for name in OWN} | {name: getattr(lax, name, None) for name in LAX}
    return SimpleNamespace(**names, remat=module.checkpoint, nn=module.nn, special=special, sign=sign)


def frameworks() -> tuple[SimpleNamespace, SimpleNamespace]:
    import jax.scipy.special

    return framework(mlc, mlc.lax, mlc.scipy.special, -1), framework(jax, jax.lax, jax.scipy.special, 1)


def problem(name: str, seed: int) -> str:
    """What differs; empty where nothing does."""
    ours, theirs = frameworks()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = _flat(PROGRAMS[name](theirs, jax.numpy, np.random.default_rng(seed)))
        found = _flat(PROGRAMS[name](ours, mnp, np.random.default_rng(seed)))
    if len(found) != len(wanted):
        return f"{len(found)} results for {len(wanted)}"
    for n, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if a.shape != b.shape or not np.allclose(a, b, rtol=2e-4, atol=2e-5, equal_nan=True):
            return f"result {n} is {a.dtype} {a.tolist()}, JAX's {b.dtype} {b.tolist()}"
    return ""


def _flat(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [leaf for key in sorted(found) for leaf in _flat(found[key])]
    if isinstance(found, list | tuple):
        return [leaf for each in found for leaf in _flat(each)]
    return [] if found is None else [np.asarray(found)]


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, problem))
