"""What both sides of a comparison are kept to: the CPUs, and the instructions of a named target."""

from __future__ import annotations

import os
from collections.abc import Iterable

HERE = "cpu"  # mlc's name for this machine, with all that it has
AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
"""Variables that OpenVINO (but for its matrix products, by MLAS) and PyTorch read; torch.compile asks the second one
for its vectors, too."""
COMPILERS = {"iree", "tvm"}  # engines whose targets have LLVM's names of CPUs, like mlc's
READERS = {"openvino", "torch", "torch_compile"}  # of the environment


def cpus(text: str | None) -> list[int]:
    """The CPUs that a text names, as `0,1`; without one the first two that this process may use."""
    return [int(cpu) for cpu in text.split(",")] if text else sorted(os.sched_getaffinity(0))[:2]


def environment(target: str) -> dict[str, str]:
    """The variables for the process of a peer."""
    from mlc import target as targets

    return AVX2 if target != HERE and targets.get(target).features == targets.get("x86-64-v3").features else {}


def options(engine: str, target: str) -> dict[str, str]:
    """Further arguments of the function that loads a model."""
    return {"cpu": target} if engine in COMPILERS and target != HERE else {}


def unlimited(engines: Iterable[str], target: str) -> list[str]:
    """The peers that use all that this machine has, whatever the target."""
    limited = COMPILERS | (READERS if environment(target) else set())
    return [engine for engine in engines if engine not in limited] if target != HERE else []
