"""Muon: momentum of matrices, made orthogonal. Source: Jordan et al., 2024; torch.optim.Muon."""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.optim.optimizers import adamw
from mlc.optim.rectified import norm
from mlc.optim.scaling import tree_map
from mlc.optim.transform import (
    GradientTransformation,
    Rate,
    Tree,
    Where,
    add_decayed_weights,
    chain,
    masked,
    scale_by_learning_rate,
    stateless,
    zeros_of,
)

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def is_matrix(name: str, array: Any) -> bool:
    """Whether a parameter has two dimensions."""
    return as_array(array).ndim == 2


def orthogonalized(
    x: Array, coefficients: tuple[float, float, float] = COEFFICIENTS, steps: int = 5, epsilon: float = 1e-7
) -> Array:
    """About the nearest matrix [R, C] with orthogonal rows or columns, by Newton and Schulz's iteration: the singular
    values come between 0.5 and 1.5."""
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]  # type: ignore[operator]
    y = x.mT if tall else x
    y = y / mnp.maximum(norm(y), epsilon)
    for _ in range(steps):
        gram = y @ y.mT
        y = a * y + (b * gram + c * (gram @ gram)) @ y
    return y.mT if tall else y


def muon(
    lr: Rate = 1e-3,
    weight_decay: float = 0.1,
    momentum: float = 0.95,
    nesterov: bool = True,
    coefficients: tuple[float, float, float] = COEFFICIENTS,
    eps: float = 1e-7,
    steps: int = 5,
    where: Where = is_matrix,
    others: GradientTransformation | None = None,
    decays: Where | None = None,
) -> GradientTransformation:
    """Muon for matrices [R, C], whose steps have a spectral norm of about lr · √max(1, R/C), with decoupled weight
    decay; ``others`` for all other parameters, by default ``adamw`` with the same rate and decay.

    ``where(name, array)``: which matrices, all by default; tables of embeddings and the last layer are commonly none of
    them. Defaults are torch's, whose iteration is in bfloat16; this one is in the parameters' type.

    Raises:
        InputError: a momentum that is not from 0 to before 1; ``where`` chooses a parameter that is no matrix.
    """
    if not 0 <= momentum < 1:
        raise InputError(f"Muon has momentum={momentum}", hint="Give one from 0 to before 1")

    def update(gradients: Tree, mean: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        mean = tree_map(lambda g, m: m + (1 - momentum) * (g - m), gradients, mean)
        moves = tree_map(lambda g, m: g + momentum * (m - g), gradients, mean) if nesterov else mean
        return tree_map(lambda x: orthogonalized(_checked(x), coefficients, steps, eps), moves), mean

    decayed = [add_decayed_weights(weight_decay, decays)] if weight_decay else []
    whole = chain(GradientTransformation(zeros_of, update), _adjusted(), *decayed, scale_by_learning_rate(lr))
    rest = adamw(lr, weight_decay=weight_decay, decays=decays) if others is None else others
    return chain(masked(whole, where), masked(rest, lambda name, array: not where(name, array)))


def _checked(x: Array) -> Array:
    if x.ndim != 2:
        what = f"Muon is for matrices, and a parameter that it is given has the shape {list(x.shape)}"
        raise InputError(what, hint="Choose matrices alone: where=lambda name, array: array.ndim == 2")
    return x


def _adjusted() -> GradientTransformation:
    """Updates [R, C] times √max(1, R/C)."""
    return stateless(lambda updates, _: tree_map(lambda u: u * max(1.0, u.shape[0] / u.shape[1]) ** 0.5, updates))
