"""The backend of NVIDIA GPUs: CUDA kernels, a host program in C, and nvcc or NVRTC beside the C compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlc.pipelines.backend import Backend, Stages
from mlc.target import GpuTarget

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from mlc.dialects.kernel import FuncOp
    from mlc.dialects.poly import ScheduleAttr
    from mlc.driver.cache.disk_cache import Cache
    from mlc.driver.toolchain.c_compiler import Toolchain
    from mlc.driver.toolchain.c_sources import CSource
    from mlc.options import Options
    from mlc.passes.codegen.cpu.c_model import Weights
    from mlc.passes.codegen.emit_c import Code, Kernels


@dataclass(frozen=True)
class GpuBackend(Backend):
    target: GpuTarget

    def pipeline(self, options: Options) -> Stages:
        from mlc.pipelines.gpu import gpu_pipeline

        return gpu_pipeline(options)

    def candidates(self, fn: FuncOp, numerics: str = "default") -> Iterator[ScheduleAttr]:
        from mlc.passes.schedule.choose_gpu_schedule import gpu_schedules

        return gpu_schedules(fn, self.target, numerics)

    def parts(self, fn: FuncOp, numerics: str) -> list[int]:
        from mlc.passes.schedule.split_reductions import sum_of

        found = sum_of(fn, self.target, numerics)
        return found.ranked() if found else []

    def print_kernels(self, module: ModuleOp) -> Kernels:
        from mlc.passes.codegen.cuda.cuda_unit import print_kernels

        return print_kernels(module)

    def print_code(
        self, module: ModuleOp, prefix: str, kernels: Kernels, weights: Weights, about: dict[str, Any], file_bytes: int
    ) -> Code:
        from mlc.passes.codegen.cuda.emit_cuda import emit_cuda

        return emit_cuda(module, prefix, kernels, weights, about, file_bytes)

    def toolchain(self, cc: str | None) -> Toolchain:
        from mlc.driver.toolchain.cuda_compiler import find_cuda

        return replace(super().toolchain(cc), cuda=find_cuda())

    def c_sources(self, sources: Mapping[str, CSource], cache: Cache) -> Mapping[str, CSource]:
        from mlc.driver.artifact.cubins import with_cubins
        from mlc.driver.toolchain.cuda_compiler import find_cuda

        return with_cubins(sources, self.target.architectures, find_cuda(), cache)

    def check_device(self) -> None:
        from mlc.tools.cuda_device import open_driver

        open_driver()
