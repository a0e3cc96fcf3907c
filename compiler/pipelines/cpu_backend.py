"""The backend of CPUs: C with vector extensions, and a C compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlc.pipelines.backend import Backend, Stages
from mlc.target import CpuTarget

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from mlc.dialects.kernel import FuncOp
    from mlc.dialects.poly import ScheduleAttr
    from mlc.options import Options
    from mlc.passes.codegen.cpu.c_model import Weights
    from mlc.passes.codegen.emit_c import Code, Kernels


@dataclass(frozen=True)
class CpuBackend(Backend):
    target: CpuTarget

    def pipeline(self, options: Options) -> Stages:
        from mlc.pipelines.cpu import cpu_pipeline

        return cpu_pipeline(options)

    def candidates(self, fn: FuncOp, numerics: str = "default") -> Iterator[ScheduleAttr]:
        from mlc.dialects.poly import ScheduleAttr as Attr
        from mlc.dialects.poly import schedule_of
        from mlc.passes.schedule.choose_schedule import cpu_schedules
        from mlc.passes.schedule.partition_parallel_loops import split_like

        chosen = Attr(schedule_of(fn))
        return (split_like(schedule, chosen) for schedule in cpu_schedules(fn, self.target))

    def print_kernels(self, module: ModuleOp) -> Kernels:
        from mlc.passes.codegen.emit_c import print_kernels

        return print_kernels(module, self.target.lanes)

    @property
    def knows_kernels(self) -> bool:
        return type(self) is CpuBackend  # a subclass may have other passes

    def print_others(self, module: ModuleOp, known: Mapping[str, str]) -> Kernels:
        from mlc.passes.codegen.emit_c import print_kernels

        return print_kernels(module, self.target.lanes, known)

    def print_code(
        self, module: ModuleOp, prefix: str, kernels: Kernels, weights: Weights, about: dict[str, Any], file_bytes: int
    ) -> Code:
        from mlc.passes.codegen.emit_c import emit_c

        return emit_c(module, prefix, kernels, self.target.features, weights, about, file_bytes)

    def check_device(self) -> None:
        """Kernels of a CPU run where mlc does."""
