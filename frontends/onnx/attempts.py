"""Imports a model as often as it needs to learn its dimensions: which are decided by operators, which names are two."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from onnx import ModelProto

from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.errors import InputError
from mlc.frontends.build.unify_dims import Fixed
from mlc.frontends.onnx.module import Translated, translated
from mlc.frontends.onnx.reading.caches import Caches
from mlc.frontends.onnx.reading.dims import DimNames
from mlc.frontends.onnx.reading.load import Source, read
from mlc.frontends.onnx.reading.ordering import in_order
from mlc.frontends.onnx.reading.ranks import Ranks, possible_ranks, rankless
from mlc.frontends.onnx.sequences import with_lengths


def translate(model: str | Path | bytes | ModelProto, dims: Mapping[str, int], cache: int = 0) -> Translated:
    """(module, weights, name, unsupported operators); the module is only complete where there are none.

    ``cache``: the caches of a decoder are state of the module, with room for so many tokens.
    """
    source = read(model)
    proto, dims = with_lengths(source.proto, dims)
    source = replace(source, proto=in_order(proto))
    caches = Caches.of(source.proto.graph, cache)
    if rankless(source.proto.graph):
        return _with_ranks(source, dims, caches)
    return _with_names(source, caches.dims(dims), {}, caches)


def _with_ranks(source: Source, dims: Mapping[str, int], caches: Caches) -> Translated:
    """As ``translate``, of a model with inputs without a shape: of the ranks that it takes, if these are the only ones.

    Raises:
        InputError: it takes several, or none.
    """
    found: list[Translated] = []
    errors: list[InputError] = []
    for ranks in possible_ranks(source.proto.graph, dims):
        try:
            found.append(_with_names(source, dims, ranks, caches))
        except InputError as error:
            errors.append(error)
    right = [each for each in found if not each[3]]
    if len(right) == 1 or len(found) + len(errors) == len(found) == 1:
        return (right or found)[0]
    if len(errors) == 1 and not found:
        raise errors[0]
    return _with_names(source, dims, {}, caches)  # its error says that there is no shape


def _with_names(source: Source, dims: Mapping[str, int], ranks: Ranks, caches: Caches) -> Translated:
    """As ``translate``; where a name cannot be one dimension, it is one for each axis."""
    failed: InputError | None = None
    found: Translated | None = None
    names = DimNames(dims)
    try:
        names, found = _with_solved(source, names, ranks, caches)
    except InputError as error:
        failed = error
    if (found is None or found[3]) and names.repeated(source.proto.graph.input):
        with suppress(InputError):
            _, separate = _with_solved(source, DimNames(dims, separate=True), ranks, caches)
            found = found if separate[3] else separate
    if failed is not None and (found is None or found[3]):
        raise failed
    assert found is not None
    return found


def _with_solved(source: Source, names: DimNames, ranks: Ranks, caches: Caches) -> tuple[DimNames, Translated]:
    """As ``translate``; begins anew with each dimension that an operator decides."""
    solved: dict[str, DimLike] = {}
    while True:
        try:
            return names, translated(source, names, ranks, caches)
        except Fixed as found:
            solved = {name: evaluate(d, {found.symbol: found.extent}) for name, d in solved.items()}
            solved[found.symbol] = found.extent
            names = names.begin_anew(solved)
