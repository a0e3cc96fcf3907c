"""Extents of whole arrays, of which a rank's arguments have blocks: the shapes of arguments without elements.

    func @main(%x: tensor<nx4xf32>)  →  func @main(%x: tensor<data_nx4xf32>, %1: tensor<nx0xi8> {dist.extent = "n"})

So the extent of the whole is a dimension of the program as before, and its results have the shapes that they had.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp

from mlc.dialects.dist import EXTENT, INFERRED, PARTS, ShardingAttr
from mlc.dialects.semantics.dims import Dim, DimLike, guard_text
from mlc.dialects.semantics.interpreter import names
from mlc.dialects.types import shape_of, tensor


def give_extents(main: FuncOp, known: Collection[str], divided: Mapping[str, DimLike], axis: str, blocks: int) -> None:
    """Add an argument for each of the ``known`` extents that no argument gives any more.

    ``divided``: the names of sizes of blocks along ``axis``, with what is divided.
    """
    parts = _parts_of(main)
    parts |= {name: _divided(parts, extent, axis) for name, extent in divided.items()}
    main.attributes[PARTS] = DictionaryAttr(parts)
    _guard(main, divided, blocks)
    given = {d for x in main.args for d in shape_of(x)}
    for name in sorted(n for n in known if Dim.symbol(n) not in given):
        _add(main, name, parts.get(name, _whole(name)))


def _parts_of(main: FuncOp) -> dict[str, DictionaryAttr]:
    """Return for the name of each size of blocks the extent that is divided, and the axes that divide it."""
    found = main.attributes.get(PARTS, DictionaryAttr({}))
    assert isinstance(found, DictionaryAttr)
    return {n: a for n, a in found.data.items() if isinstance(a, DictionaryAttr)}


def _whole(extent: DimLike | str) -> DictionaryAttr:
    return DictionaryAttr({EXTENT: StringAttr(str(extent)), INFERRED: ShardingAttr.of([])})


def _divided(parts: Mapping[str, DictionaryAttr], extent: DimLike, axis: str) -> DictionaryAttr:
    before = parts.get(str(extent), _whole(extent)).data
    sharding = before[INFERRED]
    assert isinstance(sharding, ShardingAttr)
    return DictionaryAttr({**before, INFERRED: sharding.divided(0, axis)})


def _guard(main: FuncOp, divided: Mapping[str, DimLike], blocks: int) -> None:
    """Require of each size that it is that of a balanced block."""
    found = main.attributes.get("graph.guards")
    guards = list(found.data) if isinstance(found, ArrayAttr) else []
    for name, extent in divided.items():
        where = f"A block of {extent} in {blocks}"
        more = blocks * Dim.symbol(name) - extent
        both: Iterable[DimLike] = (more + blocks - 1, blocks - 1 - more)
        guards += [StringAttr(guard_text(each, where)) for each in both if isinstance(extent, Dim)]
    if guards:
        main.attributes["graph.guards"] = ArrayAttr(guards)


def _add(main: FuncOp, name: str, attributes: DictionaryAttr) -> None:
    given = list(main.arg_attrs or [DictionaryAttr({})] * len(main.args))
    taken, shown = names(main.arg_attrs), f"extent_{name}"
    while shown in taken:
        shown += "_"
    main.body.block.insert_arg(tensor("i8", (Dim.symbol(name), 0)), len(main.args))
    main.arg_attrs = ArrayAttr([*given, DictionaryAttr({**attributes.data, "graph.name": StringAttr(shown)})])
