"""Whether gradients by torch.compile(backend="mlc") are eager torch's: ``python -m benchmarks.torch_models.training``.

Each model makes one step in training mode, without dropout: forward, backward, and changed buffers. ``-o`` writes the
page of results; ``--json FILE`` keeps them, and goes on where it ended.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.utils._pytree as pytree
from torch import nn

from benchmarks.torch_models.catalogue import model
from benchmarks.torch_models.small import networks
from benchmarks.torch_models.tables import arguments, kept_results

LIMIT = 1e-4
PAGE = Path(__file__).with_name("training.md.in")
SHARED = [
    *(f"vision/{name}" for name in ("convnext", "densenet", "mixer", "mobilenet_v2", "resnet18", "squeezenet", "swin")),
    *(f"vision/{name}" for name in ("unet", "vit")),
    *(f"transformers/{name}" for name in ("bert", "gpt2", "llama", "t5")),
]
"""Models of the catalogue that are trained too."""


def names() -> list[str]:
    return [*(f"small/{name}" for name in networks()), *SHARED]


def made(name: str) -> tuple[nn.Module, dict[str, Any] | tuple[Any, ...]]:
    """A model in training mode without dropout, and its arguments."""
    folder, _, kind = name.partition("/")
    torch.manual_seed(0)
    module, args = networks()[kind] if folder == "small" else model(name)
    return without_dropout(module).train(), args


def without_dropout(module: nn.Module) -> nn.Module:
    """The module with all its probabilities of dropout 0."""
    for each in module.modules():
        for key, value in vars(each).items():
            if "drop" in key and isinstance(value, float) or isinstance(each, nn.Dropout) and key == "p":
                setattr(each, key, 0.0)
    return module


def measured(name: str) -> dict[str, Any]:
    """Parameters, kernels of both graphs, and the largest differences of gradients and buffers; or why there are none.

    Of a gradient's element over the greatest one of all gradients; of a buffer's over itself where that is above 1.
    """
    try:
        torch._dynamo.reset()
        eager, args = made(name)
        mine = copy.deepcopy(eager)
        wanted = gradients(eager, eager, args)
        with compiled_kernels() as kernels:
            compiled = torch.compile(mine, backend="mlc", options={"fallback": False})
            found = gradients(compiled, mine, args)
        scale = max(float(each.abs().max()) for each in wanted)
        pairs = zip(mine.buffers(), eager.buffers(), strict=True)
        return {
            "parameters": sum(p.numel() for p in eager.parameters()),
            "kernels": kernels,
            "gradients": max(float((a - b).abs().max()) / scale for a, b in zip(found, wanted, strict=True)),
            "buffers": max((float(((a - b).abs() / b.abs().clamp(min=1)).max()) for a, b in pairs), default=None),
        }
    except Exception as error:  # a model that fails is a row of the table
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def gradients(function: Any, module: nn.Module, args: Any) -> list[torch.Tensor]:
    """Gradients of all parameters that have one, and of the inputs, of a sum that gives each element its own weight."""
    args = pytree.tree_map_only(torch.Tensor, _leaf, args)
    result = function(**args) if isinstance(args, dict) else function(*args)
    ys = [y for y in pytree.tree_leaves(result) if isinstance(y, torch.Tensor) and y.requires_grad]
    factors = torch.Generator().manual_seed(1)
    sum((y * torch.randn(y.shape, generator=factors)).mean() for y in ys).backward()  # type: ignore[union-attr]
    leaves = [*module.parameters(), *(x for x in pytree.tree_leaves(args) if isinstance(x, torch.Tensor))]
    return [x.grad for x in leaves if x.grad is not None]


def _leaf(x: torch.Tensor) -> torch.Tensor:
    return x.detach().clone().requires_grad_(x.is_floating_point())


@contextmanager
def compiled_kernels() -> Iterator[list[int]]:
    """The numbers of kernels of the programs that are compiled meanwhile."""
    from mlc.torch.graph_program import Program

    found, prepare = list[int](), Program.prepare

    def counted(self: Program, inputs: Any) -> Any:
        variant = prepare(self, inputs)
        found.append(len(variant.model.signature["kernels"]))
        return variant

    with mock.patch.object(Program, "prepare", counted):
        yield found


def main() -> None:
    given = arguments(str(__doc__))
    found = kept_results(given, given.models or names(), measured, _line)
    if given.output:
        given.output.write_text(page(found))


def _line(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"{name:28} {result['error']}"
    buffers = "" if result["buffers"] is None else f", buffers {result['buffers']:.1e}"
    return f"{name:28} gradients {result['gradients']:.1e}{buffers}, kernels {result['kernels']}"


def page(found: dict[str, dict[str, Any]]) -> str:
    """The page of results."""
    equal = sum(result.get("gradients", 1.0) <= LIMIT for result in found.values())
    rows = "\n".join(_row(name, result) for name, result in sorted(found.items()))
    return PAGE.read_text().format(rows=rows, torch=torch.__version__, limit=LIMIT, equal=equal)


def _row(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"| {name} | | | {result['error'].splitlines()[0]} | |"
    buffers = "" if result["buffers"] is None else f"{result['buffers']:.1e}"
    kernels = " + ".join(map(str, result["kernels"]))
    return f"| {name} | {result['parameters']:,} | {kernels} | {result['gradients']:.1e} | {buffers} |"


if __name__ == "__main__":
    main()
