"""Whether models of PyTorch give what eager torch gives: ``python -m benchmarks.torch_models [MODEL…] [-o PAGE]``.

Each goes through torch.export and mlc.compile, some through torch.compile as well, on other inputs than they were
exported with. ``-o`` writes the page of results; ``--json FILE`` keeps them, and goes on where it ended.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch.utils._pytree as pytree

import mlc
from benchmarks.torch_models.catalogue import COMPILED, MODELS, model
from benchmarks.torch_models.tables import arguments, kept_results

LIMIT = 1e-4
PAGE = Path(__file__).with_name("page.md.in")


def main() -> None:
    given = arguments(str(__doc__))
    found = kept_results(given, given.models or MODELS, measured, _line)
    if given.output:
        given.output.write_text(page(found))


def measured(name: str) -> dict[str, Any]:
    """Parameters, kernels, and the largest difference from eager torch of both ways; or why there is none."""
    try:
        module, inputs = model(name)
        other = {key: _other(x) for key, x in inputs.items()}
        with torch.no_grad():
            wanted = module(**other)
            program = torch.export.export(module, (), inputs, strict=False)
            net = mlc.compile(program)
            result = {
                "parameters": sum(p.numel() for p in module.parameters()),
                "operators": sum(node.op == "call_function" for node in program.graph.nodes),
                "kernels": len(net.signature["kernels"]),
                "export": difference(net(**other), wanted),
            }
            if name in COMPILED:
                torch._dynamo.reset()
                compiled = torch.compile(module, backend="mlc", options={"fallback": False})
                result["compile"] = difference(compiled(**other), wanted)
        return result
    except Exception as error:  # a model that fails is a row of the table
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def _other(x: torch.Tensor) -> torch.Tensor:
    """Other data of the same kind: tokens in another order, other pixels; masks stay."""
    if x.is_floating_point():
        return torch.randn(x.shape)
    return x if x.max() <= 1 else x.flip(0)


def difference(found: Any, wanted: Any) -> float:
    """The largest difference of an element, or of it over the element where that is above 1."""
    pairs = zip(pytree.tree_leaves(found), pytree.tree_leaves(wanted), strict=True)
    tensors = [(a.double(), b.double()) for a, b in pairs if isinstance(b, torch.Tensor)]
    return max(float(((a - b).abs() / b.abs().clamp(min=1)).max()) for a, b in tensors)


def _line(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"{name:28} {result['error']}"
    both = [f"{way} {result[way]:.1e}" for way in ("export", "compile") if way in result]
    return f"{name:28} {', '.join(both)}, {result['kernels']} kernels"


def page(found: dict[str, dict[str, Any]]) -> str:
    """The page of results."""
    rows = [_row(name, result) for name, result in sorted(found.items())]
    ways = {way: sum(result.get(way, 1.0) <= LIMIT for result in found.values()) for way in ("export", "compile")}
    text = PAGE.read_text().format(rows="\n".join(rows), torch=torch.__version__, limit=LIMIT, **ways)
    return text.replace("{transformers}", _transformers())


def _row(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"| {name} | | | | {result['error'].splitlines()[0]} | |"
    compiled = f"{result['compile']:.1e}" if "compile" in result else ""
    counts = f"{result['parameters']:,} | {result['operators']} | {result['kernels']}"
    return f"| {name} | {counts} | {result['export']:.1e} | {compiled} |"


def _transformers() -> str:
    import transformers

    return str(transformers.__version__)


if __name__ == "__main__":
    main()
