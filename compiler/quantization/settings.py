"""What a user can say about quantization, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from mlc.errors import InputError
from mlc.quantization.ranges import Method

Mode = Literal["static", "dynamic", "weights8", "weights4", "none"]
Bytes = Literal["uint8", "int8"]


@dataclass(frozen=True)
class Settings:
    """``keep_f32_worst`` and ``max_error`` leave layers in f32 by measured sensitivity; ``prune`` is a share (0.5),
    ``2:4`` or ``channels:0.25``; ``low_rank`` the share of a weight's squares that its factors keep.
    """

    mode: Mode = "static"
    calibration: Method = "minmax"
    percentile: float = 99.99
    activations: Bytes = "uint8"
    per_channel: bool = True
    reduce_range: bool = False
    search: bool = False
    block: int = 32
    symmetric: bool = False
    exclude: Sequence[str] = ()
    keep_f32_worst: int = 0
    max_error: float | None = None
    prune: str = ""
    low_rank: float | None = None

    def __post_init__(self) -> None:
        _among("mode", self.mode, get_args(Mode))
        _among("calibration", self.calibration, get_args(Method))
        _among("activations", self.activations, get_args(Bytes))
        _within("percentile", self.percentile, 50, 100)
        if self.low_rank is not None:
            _within("low_rank", self.low_rank, 0, 1)
        if self.block < 16 or self.block & self.block - 1:
            raise InputError(f"A block of {self.block} weights is not allowed", hint="Give a power of 2 from 16 on")
        if self.keep_f32_worst < 0:
            raise InputError(f"keep_f32_worst is {self.keep_f32_worst}", hint="Give a number of layers, 0 or more")
        if self.max_error is not None and not self.max_error > 0:
            raise InputError(f"max_error is {self.max_error}", hint="Give a share of the outputs' size, as 0.02")
        if isinstance(self.exclude, str):
            raise InputError("exclude is a string", hint=f"Give a list of names: [{self.exclude!r}]")

    @property
    def levels(self) -> int:
        """The greatest integer of a weight of 8 bits."""
        return 63 if self.reduce_range else 127

    @property
    def mixes(self) -> bool:
        """Whether the sensitivity of layers is measured."""
        return self.keep_f32_worst > 0 or self.max_error is not None


def _among(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"There is no {name} '{value}'", hint=f"Give one of {', '.join(allowed)}")


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low < value <= high:
        raise InputError(f"{name} is {value}", hint=f"Give a number above {low}, up to {high}")
