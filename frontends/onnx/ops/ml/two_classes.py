"""Tree ensembles of two classes: labels and scores where leaves have weights of one of the classes or of both.

ONNX says little of them; these are onnxruntime's rules.
"""

from __future__ import annotations

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.trees.forest import Forest
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.ops.ml.scores import transformed


def of_two_classes(
    build: Builder, scores: Tensor, there: Tensor | bool, base: list[float], bound: float, how: str
) -> tuple[Tensor, Tensor]:
    """(whether the label is the second class [N, 1], scores [N, 2] in f32) of the sums of the two classes [N, 2].

    ``there``: whether a leaf that a row reaches has a weight for a class, [N, 2] or [1, 2]; True: always.
    """
    first, second = (_column(build, there, n) for n in range(2))
    if isinstance(second, bool):
        return (_with_second if second else _without_second)(build, scores, first, base, bound, how)
    ways = (rule(build, scores, first, base, bound, how) for rule in (_with_second, _without_second))
    labels, found = zip(*ways, strict=True)
    return build.map("where(x0, x1, x2)", second, *labels), build.map("where(x0, x1, x2)", second, *found)


def _column(build: Builder, there: Tensor | bool, n: int) -> Tensor | bool:
    if isinstance(there, bool):
        return there
    return build.cut(there, 1, n, 1) if there.known is None else bool(there.known[0, n])


def bound_of(forest: Forest) -> float:
    """The score above which the label is the second class; weights of one class, none negative, are probabilities."""
    return 0.5 if len(set(forest.targets.tolist())) == 1 and bool((forest.weight >= 0).all()) else 0.0


def _offset(build: Builder, score: Tensor, there: Tensor | bool, base: float) -> Tensor:
    """A score and its base value, which is left out where the score is of no leaf."""
    if isinstance(there, bool):
        return build.map("x0 + x1", score, build.constant([base], score.element)) if there else score
    return build.map("where(x1, x0 + x2, x0)", score, there, build.constant([base], score.element))


def _with_second(
    build: Builder, scores: Tensor, there: Tensor | bool, base: list[float], bound: float, how: str
) -> tuple[Tensor, Tensor]:
    first, second = (build.cut(scores, 1, n, 1) for n in range(2))
    if len(base) == 2:
        second = _offset(build, first, True, base[1])
        first = build.map("where(x0, -x1, x2)", there, second, first) if isinstance(there, Tensor) else first
        first = build.map("-x0", second) if there is True else first
    elif base:
        first = _offset(build, first, there, base[0])
    return _finished(build, first, second, second, bound, how)


def _without_second(
    build: Builder, scores: Tensor, there: Tensor | bool, base: list[float], bound: float, how: str
) -> tuple[Tensor, Tensor]:
    score = build.cut(scores, 1, 0, 1)
    if base:
        score = _offset(build, score, there, base[0])
    if len(base) == 2:
        return _finished(build, score, build.cut(scores, 1, 1, 1), score, bound, how)
    if how == "PROBIT":
        raise NotSupported("post_transform PROBIT of one score for two classes; use NONE or LOGISTIC")
    first, second = ("1 - x0", "x0") if bound else ("-x0", "x0")
    if how == "LOGISTIC":
        first, second = "sigmoid(-x0)", "sigmoid(x0)"
    return _finished(build, build.map(first, score), build.map(second, score), score, bound, "NONE")


def _finished(
    build: Builder, first: Tensor, second: Tensor, decides: Tensor, bound: float, how: str
) -> tuple[Tensor, Tensor]:
    found = transformed(build, build.cast(build.concat([first, second], 1), "f32"), how)
    return build.map(f"x0 > {bound}", decides), found
