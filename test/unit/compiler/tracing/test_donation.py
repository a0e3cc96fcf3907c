"""Donation: results in the memory of arguments, equal to those without it; what is refused, and what an error shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optree
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError, RunError

F = Callable[..., Any]


def random(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


IN_PLACE: dict[str, tuple[F, list[tuple[int, ...]]]] = {
    "momentum": (lambda w, m, g: (w - 0.1 * (0.9 * m + g), 0.9 * m + g), [(37, 5), (37, 5), (37, 5)]),
    "reshaped": (lambda a: mnp.reshape(mnp.reshape(a, (6, 4)) * 3, (4, 6)), [(4, 6)]),
    "gradient": (lambda w, x: w - mnp.permute_dims(x, (1, 0)) @ (x @ w), [(33, 17), (9, 33)]),
    "read before": (lambda w, x: (w - mnp.permute_dims(x @ w, (1, 0)) @ x, mnp.sum(x @ w)), [(9, 9), (9, 9)]),
    "softmax": (lambda a: mnp.exp(a - mnp.max(a, axis=-1, keepdims=True)) / mnp.sum(a * a), [(20, 33)]),
}
COPIED: dict[str, tuple[F, list[tuple[int, ...]]]] = {
    "swapped": (lambda a, b: (b, a), [(4, 5), (4, 5)]),
    "rotated": (lambda a, b, c: (b, c, a), [(3,), (3,), (3,)]),
    "old value returned": (lambda p: (p + 1, p), [(9,)]),
    "old value read after": (lambda p, x: (q := p - 0.1 * x, x @ q, mnp.sum(p * q)), [(16, 16), (16, 16)]),
    "transposed": (lambda a: mnp.permute_dims(a, (1, 0)), [(7, 7)]),
    "neighbours": (lambda a, b: a + mnp.flip(a) + b, [(64,), (64,)]),
    "product": (lambda a: a @ a, [(33, 33)]),
    "sorted": (lambda a: mnp.sort(a), [(50,)]),
    "cumulative": (lambda a: mnp.cumulative_sum(a), [(50,)]),
    "loop": (lambda a: mlc.fori_loop(0, 3, lambda i, s: s * 2 + i, a), [(6,)]),
    "loop without iterations": (lambda a: mlc.while_loop(lambda s: mnp.sum(s) > 1e9, lambda s: s * 2, a), [(6,)]),
    "two parts": (lambda a: mnp.concat([a[5:] * 2, a[:5]]), [(10,)]),
    "given twice": (lambda a, b: (lambda s: (s, s))(mnp.flip(a) + b), [(30,), (30,)]),
}


@pytest.mark.parametrize("case", [*IN_PLACE, *COPIED])
def test_results_are_those_without_donation(case: str) -> None:
    f, shapes = (IN_PLACE | COPIED)[case]
    given = [random(*shape) for shape in shapes]
    donated = mlc.jit(lambda *xs: f(*xs), wait=True)(*given)  # a new function: no donation
    names = [f"x{n}" for n in range(len(shapes))]
    step = _with_names(f, names)
    step = mlc.jit(step, donate=range(_count(donated, shapes)))
    arrays = [mnp.asarray(x) for x in given]
    found = step(*arrays)
    for a, b in zip(optree.tree_leaves(found), optree.tree_leaves(donated), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert ("rt.copy" in step.ir("plan", *given)) == (case in COPIED)


def _with_names(f: F, names: list[str]) -> F:
    return eval(f"lambda {', '.join(names)}: f({', '.join(names)})", {"f": f})


def _count(results: Any, shapes: list[tuple[int, ...]]) -> int:
    return min(len(shapes), sum(x.shape in shapes for x in optree.tree_leaves(results)))


def test_the_result_is_in_the_memory_of_the_argument() -> None:
    step = mlc.jit(lambda w, g: (w - g, mnp.sum(w * g)), donate="w")
    w = mnp.asarray(random(300, 40)) + 0.0
    where = w.numpy().ctypes.data
    for _ in range(3):
        w, _ = step(w, random(300, 40))
        assert w.numpy().ctypes.data == where


def test_an_array_of_numpy_is_copied_once() -> None:
    step = mlc.jit(lambda w: w * 2, donate=0)
    x = random(8)
    kept = x.copy()
    found = step(step(x))
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(found.numpy(), 4 * kept)


def test_a_donated_array_is_gone() -> None:
    step = mlc.jit(lambda w: w + 1, donate="w")
    w = mnp.asarray(random(5)) * 1.0
    step(w)
    for use in (lambda: w + 1, lambda: w.numpy(), lambda: float(w[0]), lambda: step(w), lambda: repr(w)):
        with pytest.raises(
            InputError, match=r"test_donation.py:\d+: the array was donated to <?lambda>? at test_donation"
        ):
            use()


@pytest.mark.parametrize("hold", ["numpy", "view", "dlpack"])
def test_memory_that_others_see_is_refused(hold: str) -> None:
    step = mlc.jit(lambda w: w + 1, donate="w")
    w = mnp.asarray(random(50)) * 1.0
    held = {"numpy": w.numpy, "view": lambda: w.numpy()[3:], "dlpack": lambda: np.from_dlpack(w)}[hold]()
    kept = held.copy()
    with pytest.raises(InputError, match=r"test_donation.py:\d+: argument 'w' cannot be donated: another array"):
        step(w)
    np.testing.assert_array_equal(held, kept)
    del held
    step(w)


def test_shared_memory_of_numpy_is_refused() -> None:
    step = mlc.jit(lambda w: w + 1, donate="w")
    x = random(50)
    with pytest.raises(InputError, match="cannot be donated"):
        step(mnp.asarray(x[5:], copy=False))


def test_arrays_that_are_not_evaluated_keep_the_elements() -> None:
    step = mlc.jit(lambda w: w + 1, donate="w")
    w = mnp.asarray(random(50)) * 1.0
    expected = w.numpy() * 3
    later = w * 3
    step(w)
    np.testing.assert_array_equal(later.numpy(), expected)


def test_an_array_given_twice_is_refused() -> None:
    step = mlc.jit(lambda w, x: w + x, donate="w")
    w = mnp.asarray(random(50))
    with pytest.raises(InputError, match="given twice"):
        step(w, w)


def test_pairs_follow_the_paths() -> None:
    """Of arrays of one type, those of equal names."""

    def step(params: Any, opt: Any) -> Any:
        m = {"w": opt["m"]["w"] * 0.9 + params["w"]}
        return {"m": m, "n": opt["n"] + 1}, {"w": params["w"] - m["w"]}

    given = {"w": random(40, 3)}, {"m": {"w": random(40, 3)}, "n": np.float32(0)}
    assert "rt.copy" not in mlc.jit(step, donate=("params", "opt")).ir("plan", *given)


def test_a_donated_argument_without_a_result() -> None:
    step = mlc.jit(lambda w: mnp.sum(w), donate="w")
    w = mnp.asarray(random(5))
    with pytest.warns(UserWarning, match="no result has the type of the donated w"):
        step(w)
    w.numpy()


def test_unknown_parameters() -> None:
    with pytest.raises(InputError, match="has no parameter v"):
        mlc.jit(lambda w: w, donate="v")
    with pytest.raises(InputError, match="has 1 parameters, and donate says number 1"):
        mlc.jit(lambda w: w, donate=1)


def test_the_artifact(tmp_path: Path) -> None:
    """A model updates in place where it is given one array for both, and keeps the input otherwise."""
    step = mlc.jit(lambda w, m, g: (w - m, m + g), donate=("w", "m"))
    w, m, g = (random(30, 7) for _ in range(3))
    step.save(tmp_path / "step.so", w, m, g)
    assert "outputs[1]: y1 float32[30, 7], may be inputs[1]" in (tmp_path / "step.h").read_text()
    model = mlc.load(tmp_path / "step.so")
    assert dict(model.aliases) == {"y0": "w", "y1": "m"}
    expected = {"y0": w - m, "y1": m + g}
    found = model.run({"w": w, "m": m, "g": g})
    inside = {"w": w.copy(), "m": m.copy(), "g": g}
    model.run(inside, out={"y0": inside["w"], "y1": inside["m"]})
    for name, old in model.aliases.items():
        np.testing.assert_array_equal(found[name], expected[name])
        np.testing.assert_array_equal(inside[old], expected[name])
    with pytest.raises(RunError, match="overlaps"):
        model.run(inside, out={"y0": inside["m"]})
    with pytest.raises(RunError, match="overlaps"):
        model.run(inside, out={"y1": inside["g"]})


def test_other_pairs_are_refused_in_c(tmp_path: Path) -> None:
    step = mlc.jit(lambda w, g: w - g, donate="w")
    given = [random(30) for _ in range(2)]
    step.save(tmp_path / "step.so", *given)
    model = mlc.load(tmp_path / "step.so")
    library = model._library
    assert library is not None
    plan, inputs = model._fit(library, given)
    with pytest.raises(RunError, match="input 1 and output 0 of model 'step' are the same memory"):
        library.call(plan, inputs, {"y0": inputs[1]})
