"""The backend: mlc's passes up to statements, the accelerator's own instructions, and a simulator that runs them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.pipelines.cpu_backend import CpuBackend
from mlc_example_plugin.toy.target import ToyTarget

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from mlc.dialects.kernel import FuncOp
    from mlc.dialects.poly import ScheduleAttr
    from mlc.options import Options
    from mlc.passes.codegen.cpu.c_model import Weights
    from mlc.passes.codegen.emit_c import Code, Kernels
    from mlc.pipelines.backend import Stages

SIMULATOR = {name: Path(__file__).with_name(name).read_text() for name in ("mlc_toy.c", "mlc_toy.h")}
"""Read when the backend is, so that its text is part of the cache key."""
KEPT = {
    "layout": ("fuse-maps", "fold-constants", "canonicalize-graph", "verify-layout"),
    "fuse": ("sink-reshapes", "split-yields", "form-kernels", "deduplicate-kernels", "apply-tuned"),
    "plan": ("build-program", "plan-memory", "insert-barriers", "annotate-launches"),
}
"""The passes of CPUs that these stages have; the others choose layouts and loops of CPUs."""


@dataclass(frozen=True)
class ToyBackend(CpuBackend):
    target: ToyTarget

    def pipeline(self, options: Options) -> Stages:
        from mlc_example_plugin.toy.verify_toy import VerifyToy

        cpu = dict(super().pipeline(options))
        kept = {stage: [each for each in cpu[stage] if each.name in names] for stage, names in KEPT.items()}
        own: dict[str, list[ModulePass]] = {"schedule": [], "tile": [], "loops": [VerifyToy()]}
        return [(stage, (cpu | kept | own)[stage]) for stage in cpu]

    def candidates(self, fn: FuncOp, numerics: str = "default") -> Iterator[ScheduleAttr]:
        """The order of instructions follows from the statements: there is nothing to tune."""
        return iter(())

    def print_kernels(self, module: ModuleOp) -> Kernels:
        from mlc.passes.codegen.emit_c import Kernels, functions_of
        from mlc_example_plugin.toy.instructions import program_of

        programs = {name: program_of(fn, self.target) for name, fn in functions_of(module).items()}
        symbols = {name: f"k_{hashlib.sha256(text.encode()).hexdigest()[:16]}" for name, text in programs.items()}
        functions = {symbols[name]: _function(symbols[name], text) for name, text in programs.items()}
        return Kernels(symbols, functions, {symbol: {"toy"} for symbol in functions})

    def print_code(
        self, module: ModuleOp, prefix: str, kernels: Kernels, weights: Weights, about: dict[str, Any], file_bytes: int
    ) -> Code:
        made = super().print_code(module, prefix, kernels, weights, about, file_bytes)
        return replace(made, sources={**made.sources, **SIMULATOR})


def _function(symbol: str, program: str) -> str:
    """A kernel in C: its instructions as text, and a call of the simulator by the first thread."""
    text = "\n".join(f'    "{line}\\n"' for line in program.splitlines())
    arguments = "void *const *buf, const int64_t *dim, int64_t tid, int64_t threads"
    return f"""static const char {symbol}_program[] =
{text};
void {symbol}({arguments}) {{
  (void)dim, (void)threads;
  if (!tid) mlc_toy_run({symbol}_program, buf);
}}
"""
