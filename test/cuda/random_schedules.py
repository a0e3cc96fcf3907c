"""Random schedules for the kernels of a model: candidates of the rules, with random items of thread blocks."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import onnx

from mlc.driver.onnx_source import OnnxSource
from mlc.errors import InputError
from mlc.options import Options
from mlc.target import GPUS
from mlc.tuning.variants import Variants

CANDIDATES, TRIALS = 40, 6  # of a kernel
MULTIPROCESSORS = (2, 3, 5, 16)  # few: small products have more tiles than that
ITEMS = (
    *("streamk=2", "streamk=3", "streamk=5", "streamk=7", "depth=1", "depth=2", "depth=3", "raster=2", "raster=8"),
    *("copy=tma", "copy=async", "store=threads", "persist", "cluster=2x1", "cluster=1x2", "cluster=2x2"),
    *("warps=2x2", "warps=4x1", "warps=8", "copy=tma persist", "copy=tma persist pingpong", "copy=tma cluster=2x1"),
)
_GPUS = dict(GPUS)


def smaller(target: str, random: Random) -> None:
    """Give a target few multiprocessors, so that blocks of small products take several tiles."""
    GPUS[target] = replace(_GPUS[target], multiprocessors=random.choice(MULTIPROCESSORS))


def random_schedules(model: onnx.ModelProto, random: Random, target: str, numerics: str) -> str:
    """The text of a schedule file: a random legal schedule for each kernel, and random numbers of parts of sums."""
    options = Options(target=GPUS[target], numerics=numerics)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        variants = Variants(OnnxSource.of(model), options, Path(folder))
        numbers = {name: variants.numbers(name) for name in variants.kernels}
        variants.divide({name: random.choice(found) for name, found in numbers.items() if found})
        return "".join(f"{name}: {_schedule(variants, name, random)}\n" for name in variants.kernels)


def _schedule(variants: Variants, name: str, random: Random) -> str:
    """The first legal one of some; a candidate of the rule, which is legal, where none is."""
    found = [*islice(variants.candidates(name), CANDIDATES)] or [variants.chosen(name)]
    found = random.choice([found, [text for text in found if "copy=tma" in text] or found])
    fn = variants.kernels[name]
    fn.origin = replace(fn.origin, line=1, tuned=False)  # as given: what cannot be applied is refused
    trials = (_changed(random.choice(found), random) for _ in range(TRIALS))
    return next((text for text in trials if _is_legal(variants, name, text)), random.choice(found))


def _is_legal(variants: Variants, name: str, text: str) -> bool:
    try:
        return variants.legal(name, text)
    except InputError:
        return False


def _changed(text: str, random: Random) -> str:
    """With up to two items in place of those of its thread block, or beside them."""
    if ";" in text or "&" in text or text.count("|") < 2:
        return text
    body, _, block = text.rpartition(" | ") if text.count("|") == 3 else (text, "", "")
    items = dict(item.partition("=")[::2] for item in block.split())
    for item in random.sample(ITEMS, random.choice([0, 1, 1, 2])):
        items |= dict(each.partition("=")[::2] for each in item.split())
    block = " ".join(key + (f"={value}" if value else "") for key, value in items.items())
    return f"{body} | {block}" if block else body
