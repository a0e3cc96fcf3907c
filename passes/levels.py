"""Levels of a module: the verifier's rules after each pass, also between the passes that check them.

| from this pass on | rules |
|---|---|
| the first of stage ``graph`` | a graph without layouts (``verify-graph``) |
| the first of stage ``layout`` | a graph with the layouts of a target (``verify-layout``); ``graph.pack`` is allowed |
| ``form-kernels`` | the main function calls kernels of graph operators |
| ``lower-kernels`` | kernels of statements on buffers, later of tiles (``verify-kernel``) |
| ``lower-tiles`` | kernels of loops (``verify-loops``) |
| ``promote-locals`` | GPUs: the phases of the device level (``verify-device``), of which this is the first |
| ``build-program`` | a host program that launches kernels (``verify-plan``) |

Each of them checks that a value is defined before it is read, which xDSL does not.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mlc.passes.device.verify_device import PHASES
from mlc.passes.graph.verify_graph import VerifyGraph, verify_module
from mlc.passes.kernel import verify_kernel
from mlc.passes.layout.verify_layout import VerifyLayout
from mlc.passes.legality import TENSORS, Level
from mlc.passes.loops import verify_loops
from mlc.passes.plan import verify_plan

Rules = Callable[[ModuleOp], None]

KERNELS_OF_OPERATORS = Level(
    "fuse",
    {"builtin.module": "func.func kernel.func", **verify_kernel.MAIN, "kernel.func": "graph.* kernel.return"},
    TENSORS,
    frozenset({"kernel.call"}),
)
RULES: dict[str, Rules] = {
    "graph": lambda module: VerifyGraph().apply(Context(), module),
    "layout": lambda module: verify_module(module, VerifyLayout.name),
    "fuse.form-kernels": KERNELS_OF_OPERATORS.verify,
    "kernel.lower-kernels": verify_kernel.LEVEL.verify,
    "loops.lower-tiles": verify_loops.LEVEL.verify,
    "loops.promote-locals": PHASES["staged"].verify,
    "loops.hoist-copies": PHASES["asynchronous"].verify,
    "loops.distribute-values": PHASES["distributed"].verify,
    "loops.set-launch-geometry": PHASES["launched"].verify,
    "plan.build-program": verify_plan.DEVICE_LEVEL.verify,
}


def rules_from(name: str) -> Rules | None:
    """Return the rules that hold from the pass ``stage.pass`` on; None if the pass changes no rule."""
    return RULES.get(name) or RULES.get(name.partition(".")[0])
