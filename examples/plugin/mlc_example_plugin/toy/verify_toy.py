"""The last pass before the host program: which kernels the accelerator cannot run, and why."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.graph import RoutineOp, source_nodes
from mlc.errors import InputError
from mlc.passes.context import target_of
from mlc_example_plugin.toy.instructions import CannotRun, program_of
from mlc_example_plugin.toy.target import ToyTarget


@dataclass(frozen=True)
class VerifyToy(ModulePass):
    """Verifier of the accelerator (``verify-toy``).

    Raises:
        InputError: a kernel has no instructions; names the operators that it computes.
    """

    name = "verify-toy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        target = target_of(ctx)
        assert isinstance(target, ToyTarget)
        for call in op.walk():
            if isinstance(call, RoutineOp):
                raise _refused(source_nodes(call), f"{call.fn.data} is a function of the host")
            if isinstance(call, kernel.CallOp):
                try:
                    program_of(functions[call.callee.root_reference.data], target)
                except CannotRun as why:
                    raise _refused(source_nodes(call), str(why)) from why


def _refused(nodes: tuple[str, ...], why: str) -> InputError:
    what = f"The toy accelerator cannot run {', '.join(nodes) or 'a kernel'}: {why}"
    return InputError(what, stage="loops", hint="Compile the model for a CPU: --target cpu")
