"""Plans of modules that a frontend has made."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp

from mlc.dialects.semantics.interpreter import names
from mlc.dialects.types import shape_of
from mlc.errors import InputError
from mlc.frontends.imported import Imported
from mlc.options import Options
from mlc.passes.context import MlcContext
from mlc.passes.graph import graph_pipeline
from mlc.planning.cluster import default
from mlc.planning.search import Search, search
from mlc.planning.settings import Auto


def at_end_of_graph(imported: Imported, options: Options) -> MlcContext:
    """Run the passes of stage graph before the partition, which a plan is of."""
    context = MlcContext(weights=imported.weights, target=options.target)
    for each in graph_pipeline(options.numerics):
        each.apply(context, imported.module)
    return context


def search_imported(
    imported: Imported, options: Options, auto: Auto, updates: Mapping[int, int], divided_weights: bool = False
) -> Search:
    """Search a plan for a module with a mesh, which is changed to the end of stage graph."""
    at_end_of_graph(imported, options)
    cluster = auto.cluster or default(options.target)
    return search(imported.module, cluster, auto, updates, divided_weights)


def check_fixed(main: FuncOp, what: str) -> None:
    """Raise InputError where an argument of ``what`` has a dimension that is known at run time only."""
    for name, x in zip(names(main.arg_attrs), main.args, strict=True):
        if (dim := next((d for d in shape_of(x) if not isinstance(d, int)), None)) is not None:
            raise InputError(f"Input '{name}' of {what} has the dimension '{dim}'", hint=f"Fix it by --dim {dim}=8")
