"""Kernels that were lowered in earlier compilations, of this model or another: the cache has their C.

Kernels whose bodies may become parts of loops (``outline-loops``) are lowered each time.

The key of a kernel is its text once it has a schedule, with the target and mlc's own sources. So a retrained model, and
all other layers of one that was edited, are neither tiled, lowered nor printed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from mlc.driver.cache import source_digest
from mlc.driver.cache.cache_key import versions
from mlc.driver.cache.disk_cache import Cache
from mlc.options import Options
from mlc.passes.codegen.cpu.known_kernel import Descriptions, KnownKernel, empty, facts_of, known_of, outline
from mlc.passes.codegen.emit_c import functions_of
from mlc.passes.context import cpu_facts
from mlc.passes.plan.outline_loops import small_in_loops
from mlc.passes.tile.tile_kernels import has_work
from mlc.pipelines.backends import backend_of
from mlc.plugins import passes

KIND, FILE = "kernels", "kernel.json"


@dataclass
class KnownKernels:
    """The kernels of a module by name: ``found`` in the cache, or ``lowered`` now, with their keys and facts."""

    cache: Cache
    options: Options
    found: dict[str, KnownKernel] = field(default_factory=dict)
    lowered: dict[str, tuple[str, Mapping[str, Attribute]]] = field(default_factory=dict)

    @classmethod
    def of(cls, cache: Cache, options: Options) -> KnownKernels | None:
        """None where kernels cannot be known: without a cache, for GPUs, and with the passes of plug-ins."""
        known = cache.root is not None and backend_of(options.target).knows_kernels and not passes()
        return cls(cache, options) if known else None

    @property
    def printed(self) -> dict[str, str]:
        """The C functions of the kernels that were found."""
        return {name: each.text for name, each in self.found.items()}

    def before(self, stage: str, module: ModuleOp) -> None:
        """Called before each stage: of scheduled kernels, take those that are known out; outline them for the plan."""
        if stage == "tile":
            self._find(module)
        elif stage == "plan":
            for name, each in self.found.items():
                outline(functions_of(module)[name], each)

    def _find(self, module: ModuleOp) -> None:
        descriptions = Descriptions()
        common = hashlib.sha256(json.dumps(self._common(), sort_keys=True).encode())
        inlined = small_in_loops(module, cpu_facts(self.options.target))
        for name, fn in functions_of(module).items():
            if fn.schedule is None or not has_work(fn) or name in inlined:
                continue
            made = common.copy()
            made.update(descriptions.of(fn).encode())
            if (each := self._read(key := made.hexdigest())) is None:
                self.lowered[name] = key, facts_of(fn)
            else:
                self.found[name] = each
                empty(fn)

    def _common(self) -> dict[str, object]:
        target = self.options.target
        return {
            "target": self.options.key()["target"],
            "kind": type(target).__name__,
            "mlc": source_digest.of_sources(),
            "packages": versions(),
        }

    def _read(self, key: str) -> KnownKernel | None:
        entry = self.cache.get(KIND, key)
        try:
            return None if entry is None else KnownKernel.parsed(json.loads((entry / FILE).read_text()))
        except (OSError, ValueError, RecursionError):
            return None

    def remember(self, module: ModuleOp, printed: Mapping[str, str]) -> None:
        """Write the kernels that were lowered now; ``printed``: kernel -> C function."""
        functions = functions_of(module)
        for name, (key, facts) in self.lowered.items():
            if name in functions and (each := known_of(functions[name], printed[name], facts)) is not None:
                with self.cache.stage(KIND, key) as folder:
                    self._write(folder, key, each)

    def _write(self, folder: Path, key: str, each: KnownKernel) -> None:
        try:
            (folder / FILE).write_text(json.dumps(asdict(each)))
        except OSError:
            return
        self.cache.commit(folder, KIND, key)
