"""Functions on hostile arguments (wrong ranks, negative sizes, NaN, strings, empty lists) raise errors of mlc alone."""

from __future__ import annotations

import inspect
import itertools
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError, MlcError

RNG = np.random.default_rng()
VECTOR, MATRIX = mnp.asarray(RNG.normal(size=3)), mnp.asarray(RNG.normal(size=(3, 4)).astype(np.float32))
ARRAYS = (VECTOR, MATRIX, mnp.asarray(2.0), mnp.zeros((0, 3)), mnp.arange(3), mnp.asarray([True, False, True]),
          mnp.asarray(RNG.normal(size=(2, 2)) * 1j), mnp.zeros((2, 3, 4)), mnp.zeros((1, 2, 3, 4, 2)))  # fmt: skip
HOSTILE = (*ARRAYS, -1, 0, 1, -3, 99, 2.5, float("nan"), float("inf"), "text", None, [], (), (0, 0), (-2, 3), (5,),
           [VECTOR, MATRIX], [1, "a"], np.array(["a"]), np.array([object()]), {}, object(), True, 1j, np.float32,
           slice(1))  # fmt: skip
SANE: tuple[Any, ...] = (VECTOR, MATRIX, 3, ARRAYS[7])
FOLDERS = {"numpy": mnp, "linalg": mnp.linalg, "fft": mnp.fft, "random": mnp.random, "nn": nn, "optim": optim}
# of files, of the user's own classes and functions, and the process's generator
NO_FUNCTIONS = {"save_file", "save_onnx", "load_file", "manual_seed", "Array", "Module", "Lambda", "static", "buffer",
                "inlined", "TraceError", "GradientTransformation", "from_dlpack", "partition"}  # fmt: skip
CALLS = 24  # of a function


def functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in sorted(set(module.__all__) - NO_FUNCTIONS):
        f = getattr(module, name)
        if callable(f) and not isinstance(f, np.dtype | type) and getattr(f, "__module__", "").startswith("mlc"):
            yield name, f


def calls(f: Callable[..., Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Sane arguments of which one is hostile, then hostile ones alone."""
    given = inspect.signature(f).parameters.values()
    needed = sum(p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD for p in given)
    named = [p.name for p in given if p.default is not p.empty and p.kind >= p.POSITIONAL_OR_KEYWORD]
    for _ in range(CALLS):
        args = [SANE[RNG.integers(len(SANE))]] * needed
        hostile = HOSTILE[RNG.integers(len(HOSTILE))]
        at = int(RNG.integers(-len(named), needed + 1))
        if at < 0:
            yield tuple(args), {named[at]: hostile}
        else:
            yield (*args[:at], hostile, *args[at + 1 :]), {}
    for _ in range(CALLS // 4):
        yield tuple(HOSTILE[n] for n in RNG.integers(len(HOSTILE), size=needed)), {}


def leaves_of(value: Any) -> list[mnp.Array]:
    return [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, mnp.Array)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_raw_errors(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for files that functions write
    raw: dict[str, str] = {}
    for name, f in functions(FOLDERS[folder]):
        for args, kwargs in calls(f):
            try:
                for leaf in leaves_of(f(*args, **kwargs)):
                    leaf.numpy()
            except MlcError:
                continue
            except Exception as error:
                raw.setdefault(name, f"{args} {kwargs}: {type(error).__name__}: {error}")
    assert not raw, "\n".join(f"{name}{what}" for name, what in raw.items())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mnp.diagonal(VECTOR), r"mlc.numpy.diagonal takes two dimensions or more, not .* shape \(3,\)"),
        (lambda: mnp.tril(2.0), r"mlc.numpy.tril takes two dimensions or more, not .* shape \(\)"),
        (lambda: mnp.stack([]), "concat and stack need an array. Give one array at least"),
        (lambda: mnp.arange(float("inf")), "mlc.numpy.arange cannot go from 0 to inf by .* Give finite numbers"),
        (lambda: mnp.arange(0, 3, 0), "arange cannot go from 0 to 3 by steps of 0. Give .* a step that is not 0"),
        (lambda: mnp.zeros((2, -3)), r"shape \(2, -3\) has a negative extent. Give extents from 0 on"),
        (lambda: mnp.ones("ab"), "'ab' is no shape. Give integers, such as"),
        (lambda: mnp.sum(MATRIX, axis="0"), "'0' is no axis. Give an integer, or a tuple"),
        (lambda: mnp.bitwise_and(MATRIX, 1), "mlc.numpy.bitwise_and is not defined on f32. Give integers or booleans"),
        (lambda: -mnp.asarray([True]), "mlc.numpy.negative is not defined on booleans. Use logical_not"),
        (lambda: mnp.abs([[1, 2], [3]]), "parts have different shapes is not an array. Give nested lists"),
        (lambda: mnp.abs(["a"]), "Arrays of dtype <U1 do not exist. Use bool, an integer"),
        (lambda: MATRIX["a"], r"Array.__getitem__\(float32\[3, 4\], 'a'\): 'str' object cannot be"),
        (lambda: mnp.fft.hfft(mnp.ones(1)), r"mlc.numpy.fft.hfft\(float32\[1\]\): there is no Fourier transform of 0"),
        (
            lambda: nn.Linear(-1, 3),
            r"mlc.nn.Linear\(-1, 3\): an array of shape \(3, -1\) .* Linear\(in_features, out_f",
        ),
        (lambda: nn.Linear(3), "missing 1 required .*'out_features'"),
        (lambda: nn.Conv2d(3, 4, 3, rng=0), "rng is 0, which is no generator of NumPy. Give rng=numpy.random"),
        (lambda: nn.conv(MATRIX, "w"), r"A str is not an array"),
        (lambda: optim.adam(betas=0.9), r"mlc.optim.adam\(betas=0.9\): .* Its parameters: adam\(lr=0.001, betas="),
    ],
)
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_errors_are_also_those_of_the_standard() -> None:
    for error, call in ((ValueError, lambda: mnp.squeeze(MATRIX, 0)), (IndexError, lambda: MATRIX[9])):
        with pytest.raises(error, match=re.escape("float32[3, 4]")):
            call()


def test_errors_of_the_users_own_code_stay() -> None:
    def fails(x: Any) -> Any:
        raise ValueError("of the user")

    with pytest.raises(ValueError, match="^of the user$"):
        nn.Sequential(fails)(VECTOR)


def test_public_functions_are_found_by_pickle_and_inspect() -> None:
    for f in (mnp.sum, mnp.linalg.det, nn.relu, optim.adam):
        assert pickle.loads(pickle.dumps(f)) is f
    assert list(inspect.signature(mnp.tril).parameters) == ["x", "k"]


def test_numbers_beside_arrays_as_in_compiled_code() -> None:
    """Powers of integers, whose exponents may be negative, and neighbours of a number without a type."""
    x, n = (np.array(pair) for pair in zip(*itertools.product(range(-3, 4), (-3, -2, -1, 0, 1, 2, 5)), strict=True))
    y = RNG.normal(size=5).astype(np.float32)
    both = lambda x, n, y: (mnp.pow(x, n), mnp.nextafter(1.0, y))  # noqa: E731
    powers = [0 if b < 0 and a == 0 else int(float(a) ** int(b)) for a, b in zip(x, n, strict=True)]
    for found in (both(x, n, y), mlc.jit(both)(x, n, y)):
        np.testing.assert_array_equal(found[0].numpy(), powers)
        np.testing.assert_array_equal(found[1].numpy(), np.nextafter(np.float32(1), y))


STEP = train.Trainer(nn.Linear(3, 2), optim.adam(), lambda m, x: mnp.sum(m(x)))
WEIGHTED = train.Trainer(nn.Linear(3, 2), optim.adam(), lambda m, x, w: mnp.sum(m(x)) * mnp.sum(w))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mlc.cond(VECTOR > 0, mnp.sum, mnp.max, VECTOR),
            r"mlc.cond cannot take a predicate of shape \(3,\). Give one of",
        ),
        (
            lambda: mlc.while_loop(lambda s: s < 9, lambda s: s + 1, VECTOR),
            r"mlc.while_loop cannot take a predicate of shape \(3,",
        ),
        (lambda: mlc.while_loop(mnp.any, mnp.abs, VECTOR, max_iterations="9"), r"mlc.while_loop\(.* object cannot be"),
        (lambda: mlc.fori_loop(0, 2.5, lambda i, s: s, VECTOR), r"mlc.fori_loop\(0, 2.5, .*: 'float' object cannot be"),
        (lambda: mlc.switch(0, []), r"mlc.switch\(0, \[\]\): .* Its parameters: switch\(index, functions"),
        (lambda: mlc.vmap(3), "mlc.vmap cannot take a int. Give a function"),
        (lambda: mlc.jvp(lambda x: x, (VECTOR, VECTOR), (VECTOR, VECTOR)), r"mlc.jvp\(.* positional argument"),
        (lambda: mlc.compute((-1,), lambda i: i), "negative extent"),
        (lambda: mlc.jit(3), "jit was given a int in place of a function. Give a function"),
        (lambda: mlc.jit(lambda x: x, shapes={"x": 3})(VECTOR), r"has shape \(3,\), and shapes says 3"),
        (lambda: mlc.jit(lambda x: x)(y=VECTOR), r"hostile_arguments.py:\d+: <?lambda>?\(x\): missing a required"),
        (
            lambda: WEIGHTED.take((VECTOR, VECTOR, VECTOR)),
            r"mlc.train.Trainer.take\(tuple of float64\[3\], .* positional arguments",
        ),
        (lambda: STEP.fit([(VECTOR,)], "9"), r"mlc.train.Trainer.fit\(.*, '9'\): "),
        (lambda: train.ArrayData(3, batch_size=2), r"mlc.train.ArrayData\(3, batch_size=2\): "),
        (
            lambda: nn.save_file({"a": VECTOR}, 3.5),
            r"mlc.nn.save_file\(a dict, 3.5\): expected str, bytes or os",
        ),
        (lambda: nn.save_file({"a": VECTOR}, "."), "'.' is a folder. Give the name of a file"),
    ],
)
def test_messages_of_transforms_and_training(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
