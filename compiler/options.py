"""All options of a compilation, typed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from mlc import target as targets
from mlc.errors import InputError
from mlc.target import Target

Numerics = Literal["strict", "default", "relaxed"]

SANITIZERS = ("address", "undefined", "thread")
EMBED_LIMIT = 1 << 20
"""Weights of fewer bytes than this are embedded in the library by default."""


def _option(help: str, *, default: Any = None, key: bool = True, **kwargs: Any) -> Any:
    """A documented field; ``key`` says whether it changes the generated code."""
    if "default_factory" not in kwargs:
        kwargs["default"] = default
    return field(metadata={"help": help, "key": key}, **kwargs)


@dataclass(frozen=True)
class Options:
    """The options of one compilation. ``cache_key_fields`` names those that change the artifact."""

    target: Target = _option("the CPU or GPU to generate code for", default_factory=lambda: targets.get("cpu"))
    dims: Mapping[str, int] = _option("fixed values of symbolic dimensions", default_factory=dict)
    name: str | None = _option("the model's name, of which its C symbols begin; None: as its source is called")
    numerics: Numerics = _option("how far sums may be reordered and algorithms replaced", default="default")
    peak_memory: int = _option(
        "the most bytes of intermediate values, which are computed anew to fit; 0: no limit", default=0
    )
    embed_weights: bool | None = _option("weights inside the library; None: when they are small")
    tuned: Mapping[str, str] = _option(
        "schedules that mlc tune has measured, by digest of the kernel", default_factory=dict, key=False
    )  # those of the model's own kernels are part of the cache key
    schedule: str | None = _option("text of a schedule file that overrides the chosen schedules")
    cc: str | None = _option("the C compiler command; None: $CC, gcc, clang, cc or ziglang", key=False)
    sanitize: str = _option(
        "sanitizers of the C compiler to build with, as in -fsanitize=: address, undefined, thread", default=""
    )
    threads: int = _option("threads a loaded model runs with; 0: the allowed CPUs", default=0, key=False)

    def __post_init__(self) -> None:
        if self.numerics not in get_args(Numerics):
            raise InputError(f"Unknown numerics '{self.numerics}'", hint="Use strict, default or relaxed")
        if not _is_whole(self.threads, 0):
            raise InputError(f"A model cannot run on {self.threads!r} threads", hint="Use 0 for all allowed CPUs")
        if not _is_whole(self.peak_memory, 0):
            hint = "Give a whole number of bytes, 0 for no limit"
            raise InputError(f"peak_memory is {self.peak_memory!r}, which is no number of bytes", hint=hint)
        if not set(self.sanitizers) <= set(SANITIZERS):
            raise InputError(f"Unknown sanitizer in '{self.sanitize}'", hint="Use address, undefined or thread")
        for name, size in self.dims.items():
            if not _is_whole(size, 1):
                raise InputError(f"Dimension '{name}' cannot be {size!r}", hint="Give a whole number of at least 1")

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """The sanitizers by name."""
        return tuple(filter(None, self.sanitize.split(",")))

    def tuned_lines(self) -> str:
        """The tuned schedules as ``apply-tuned`` reads them."""
        return "\n".join(f"{digest}: {schedule}" for digest, schedule in sorted(self.tuned.items()))

    def embeds(self, weights_bytes: int) -> bool:
        """Whether a payload of this many bytes is embedded in the library."""
        return weights_bytes < EMBED_LIMIT if self.embed_weights is None else self.embed_weights

    def key(self) -> dict[str, Any]:
        """The fields on which generated code depends, as JSON-ready values."""
        values = dataclasses.asdict(self)
        values["dims"] = dict(sorted(self.dims.items()))
        return {name: values[name] for name in cache_key_fields}


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least


cache_key_fields: tuple[str, ...] = tuple(f.name for f in dataclasses.fields(Options) if f.metadata["key"])
"""The options on which an artifact depends, in addition to the model, mlc's own sources and the C compiler."""


@dataclass(frozen=True)
class Environment:
    """The environment variables of mlc; nothing else in the compiler reads ``os.environ``."""

    cache_dir: Path | None  # MLC_CACHE_DIR, else ~/.cache/mlc; None without a home: no cache, as when it is set empty
    homeless: bool  # there is no cache as there is no home folder
    cache_bytes: int  # MLC_CACHE_SIZE in MiB: entries used longest ago go when the cache grows beyond it
    cc: str | None  # CC
    cflags: str  # MLC_CFLAGS: what the C compiler gets after mlc's own flags
    nvcc: str | None  # MLC_NVCC: the CUDA compiler
    debug: bool  # MLC_DEBUG: tracebacks, and why the cache missed


def environment() -> Environment:
    """The current environment (read at each call, because tests and notebooks change it)."""
    get = os.environ.get
    chosen = get("MLC_CACHE_DIR")
    cache_dir = _default_cache() if chosen is None else Path(chosen) if chosen else None
    homeless = chosen is None and cache_dir is None
    mebibytes = get("MLC_CACHE_SIZE", "")
    limit = (int(mebibytes) if mebibytes.isdigit() else 10240) << 20
    debug = get("MLC_DEBUG", "") not in ("", "0")
    cc, cflags, nvcc = get("CC") or None, get("MLC_CFLAGS", ""), get("MLC_NVCC") or None
    return Environment(cache_dir, homeless, limit, cc, cflags, nvcc, debug)


def _default_cache() -> Path | None:
    """``$XDG_CACHE_HOME/mlc``, else ``~/.cache/mlc``; None where a process has no home folder, as in some containers.

    Relative paths are ignored, which the XDG Base Directory Specification asks for.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mlc" if os.path.isabs(base) else None
