"""The interface of a backend: what mlc builds for a kind of machine, whose facts are in its target.

A backend has the passes, the candidates of the tuner, the printers and the toolchain. It imports them when it is asked,
so that an artifact comes from the cache without the passes, and a compilation for a CPU without those of GPUs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from mlc.dialects.kernel import FuncOp
    from mlc.dialects.poly import ScheduleAttr
    from mlc.driver.cache.disk_cache import Cache
    from mlc.driver.toolchain.c_compiler import Toolchain
    from mlc.driver.toolchain.c_sources import CSource
    from mlc.options import Options
    from mlc.passes.codegen.cpu.c_model import Weights
    from mlc.passes.codegen.emit_c import Code, Kernels
    from mlc.target import Target

Stages = list[tuple[str, list["ModulePass"]]]
"""The passes of each stage that transforms IR, in order."""


class Backend(ABC):
    """What is built for a target. A kind of machine has a class of its own, made with the target."""

    target: Target
    @abstractmethod
    def pipeline(self, options: Options) -> Stages:
        """Return the passes from an imported graph to a planned host program."""

    @abstractmethod
    def candidates(self, fn: FuncOp, numerics: str = "default") -> Iterator[ScheduleAttr]:
        """Yield schedules for a kernel that has one, of the target's rules, the best by their order first."""

    def parts(self, fn: FuncOp, numerics: str) -> list[int]:
        """Return in how many parts different tasks may compute the sum of a kernel, before it is raised to statements:
        the best number by its estimate first, 1 among them. The list is empty if the sum has no parts, as on CPUs."""
        return []

    @abstractmethod
    def print_kernels(self, module: ModuleOp) -> Kernels:
        """Return the kernels of a planned module in the target's language."""

    @property
    def knows_kernels(self) -> bool:
        """Whether nothing else of a module decides how a kernel that has a schedule is lowered, so that an equal one
        need not be lowered again."""
        return False

    def print_others(self, module: ModuleOp, known: Mapping[str, str]) -> Kernels:
        """``print_kernels`` where some are ``known``, kernel -> C function, if the backend knows kernels."""
        raise NotImplementedError

    @abstractmethod
    def print_code(
        self, module: ModuleOp, prefix: str, kernels: Kernels, weights: Weights, about: dict[str, Any], file_bytes: int
    ) -> Code:
        """Return the files of a planned module, whose symbols begin with ``prefix``, and its signature, to which
        ``about`` is added. A file has about ``file_bytes`` of kernels."""

    def toolchain(self, cc: str | None) -> Toolchain:
        """Return the compilers to use; ``cc`` names the C compiler, None: the first that runs.

        Raises:
            ToolchainError: there is none.
        """
        from mlc.driver.toolchain.c_compiler import find

        return find(cc, self.target)

    def c_sources(self, sources: Mapping[str, CSource], cache: Cache) -> Mapping[str, CSource]:
        """Return what a C compiler takes, with kernels of another language compiled.

        Raises:
            ToolchainError: a kernel does not compile.
        """
        return sources

    @abstractmethod
    def check_device(self) -> None:
        """Check that this machine can run kernels of the target, as ``mlc tune`` does.

        Raises:
            NoDevice: it cannot.
        """
