"""All dialects and passes of mlc, by name: for ``mlc-opt`` and, through the ``xdsl.universe`` entry point,
``xdsl-opt``.

Nothing is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from xdsl.passes import ModulePass
from xdsl.universe import Universe

from mlc import plugins

_DIALECTS = {"comm": "Comm", "dist": "Dist", "graph": "Graph", "kernel": "Kernel", "poly": "Poly", "rt": "Rt"}
"""Name and module of a dialect, and the object that is it."""

PASSES = {
    "graph": "verify-graph simplify-quantization integer-products canonicalize-graph fold-constants fold-scale"
    " hoist-loop-invariants distribute-loops fuse-maps fuse-stencils hoist-invariants differentiate",
    "distribute": "propagate-shardings insert-reshards verify-spmd partition distribute gather-anew",
    "layout.factors": "round-factors narrow-weights round-blocks unpack-blocks winograd-bytes",
    "layout": "assign-layout pack-weights pack-operands transpose-operands pack-quantized-weights"
    " decompose-pack interleave-gates winograd winograd-gradients scale-weights sink-casts verify-layout",
    "fuse.autodiff": "recompute-scores split-chains rematerialize",
    "fuse": "factor-sums reassociate-sums fuse-reductions expand-contractions expand-winograd sink-reshapes"
    " split-yields split-concats defer-normalization form-kernels deduplicate-kernels delay-updates",
    "kernel": "requantize-in-floats lower-kernels count-work verify-kernel",
    "schedule": "prove-in-place apply-tuned apply-schedules choose-schedule collapse-iterators"
    " apply-parts split-reductions choose-gpu-schedule partition-parallel-loops",
    "schedule.masks": "restrict-domains skip-borders compute-bands",
    "tile": "tile-kernels",
    "loops": "lower-tiles merge-tail-reductions roll-epilogues spill-locals verify-loops",
    "device.streaming": "promote-locals use-exp2 hoist-copies split-loops order-blocks share-locals",
    "device.asynchronous": "copy-by-tma store-by-tma specialize-warps pipeline-copies",
    "device": "stage-operands use-tensor-cores use-warpgroups raster-tiles stream-k distribute-values"
    " insert-block-barriers set-launch-geometry verify-device",
    "plan": "build-program outline-loops overlap-collectives assign-memory-spaces plan-memory insert-barriers"
    " annotate-launches verify-plan",
}
"""The passes of each folder: ``fold-constants`` is the class ``FoldConstants`` of the file ``fold_constants.py``."""


def _lazily(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(module), name)


def _pass(stage: str, name: str) -> Callable[[], type[ModulePass]]:
    return _lazily(f"mlc.passes.{stage}.{name.replace('-', '_')}", "".join(map(str.capitalize, name.split("-"))))


UNIVERSE = Universe(
    all_dialects={name: _lazily(f"mlc.dialects.{name}", dialect) for name, dialect in _DIALECTS.items()},
    all_passes={name: partial(plugins.loaded, "mlc.passes", name) for name in plugins.found("mlc.passes")}
    | {name: _pass(stage, name) for stage, names in PASSES.items() for name in names.split()},
)
