"""Samples of torch operators by the importer and by torch.compile, beside eager torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch_samples import Sample, tensors_of

from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import InputError
from mlc.frontends.torch.errors import UnsupportedError
from mlc.frontends.torch.program import import_program
from mlc.torch.model import Form, to_array, to_leaf

NO_REFERENCE, RANDOM, REFUSED = "no reference", "random", "refused"
DIFFERS, MISTAKE, CRASH = "differs", "error", "crash"
Judge = Callable[[Sequence[Sample]], list[Any]]


class Several(torch.nn.Module):
    """Calls several samples, each with its own tensors."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        super().__init__()
        self.samples = samples

    def forward(self, *given: torch.Tensor) -> list[list[torch.Tensor]]:
        rest = iter(given)
        return [list(tensors_of(s.function(*(next(rest) for _ in s.tensors)))) for s in self.samples]


def exported(samples: Sequence[Sample]) -> list[Any]:
    """The results of each sample by torch.export, the importer and the interpreter."""
    given = tuple(x.detach() for sample in samples for x in sample.tensors)
    program = torch.export.export(Several(samples), given, strict=False)
    imported = import_program(program, {}, "samples")
    form = Form(program)
    leaves = form.leaves(given, {})
    found = interpret(imported.module, imported.weights, {name: to_array(leaves[n]) for n, name in form.inputs})
    arrays = [np.array(found[n], order="C") for n in form.names if n in found]
    return form.result(arrays, to_leaf)


def compiled(samples: Sequence[Sample]) -> list[Any]:
    """The results of each sample by torch.compile."""
    torch._dynamo.reset()
    given = tuple(x.detach() for sample in samples for x in sample.tensors)
    with torch.no_grad():
        return torch.compile(Several(samples), backend="mlc", options={"fallback": False})(*given)


def differentiated(samples: Sequence[Sample]) -> list[Any]:
    """The results of each sample by torch.compile, and the gradients of their sums."""
    torch._dynamo.reset()
    function = torch.compile(Several(samples), backend="mlc", options={"fallback": False})
    return _with_gradients(samples, function)


def eager(samples: Sequence[Sample]) -> list[Any]:
    """The results of each sample by torch itself."""
    with torch.no_grad():
        return Several(samples)(*(x.detach() for sample in samples for x in sample.tensors))


def eager_gradients(samples: Sequence[Sample]) -> list[Any]:
    """The results of each sample by torch itself, and the gradients of their sums."""
    return _with_gradients(samples, Several(samples))


def _with_gradients(samples: Sequence[Sample], function: Callable[..., Any]) -> list[Any]:
    given = [x.detach().clone().requires_grad_(x.requires_grad) for sample in samples for x in sample.tensors]
    results, rest = function(*given), iter(given)
    found = []
    for sample, ys in zip(samples, results, strict=True):
        leaves = [x for x in (next(rest) for _ in sample.tensors) if x.requires_grad]
        roots = [y for y in ys if y.requires_grad]
        weighted = [y * torch.linspace(0.5, 1.5, y.numel(), dtype=y.real.dtype).reshape(y.shape) for y in roots]
        total = sum((y.abs() if y.is_complex() else y).sum() for y in weighted)
        grads = torch.autograd.grad(total, leaves, allow_unused=True, retain_graph=True) if roots and leaves else []
        found.append([*(y.detach() for y in ys), *(torch.zeros(0) if g is None else g for g in grads)])
    return found


def judged(samples: Sequence[Sample], run: Judge, reference: Judge = eager) -> list[str]:
    """A problem of each sample, or nothing: all in one program, one by one where that fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [_reference([sample], reference) for sample in samples]
        known = [n for n, each in enumerate(wanted) if not isinstance(each, str)]
        problems = [each if isinstance(each, str) else "" for each in wanted]
        found = _run([samples[n] for n in known], run) if known else []
        if isinstance(found, str):
            found = [each if isinstance(each := _run([samples[n]], run), str) else each[0] for n in known]
        for n, results in zip(known, found, strict=True):
            problems[n] = results if isinstance(results, str) else _difference(wanted[n], results, samples[n])
    return problems


def _reference(sample: Sequence[Sample], reference: Judge) -> Any:
    try:
        torch.manual_seed(0)
        first = reference(sample)[0]
        torch.manual_seed(1)
        second = reference(sample)[0]
    except Exception as error:
        return f"{NO_REFERENCE}: {_line(error)}"
    same = all(torch.allclose(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
    return first if same or not sample[0].is_exact else RANDOM


def _run(samples: Sequence[Sample], run: Judge) -> Any:
    try:
        return run(samples)
    except UnsupportedError as error:
        return f"{REFUSED}: {'; '.join(sorted({f'{each.op}: {each.why}' for each in error.found}))}"
    except InputError as error:
        return f"{MISTAKE}: {_line(error)}"
    except Exception as error:
        inner = getattr(error, "inner_exception", None) or error.__cause__ or error
        if isinstance(inner, UnsupportedError):
            return f"{REFUSED}: {'; '.join(sorted({f'{each.op}: {each.why}' for each in inner.found}))}"
        is_of_torch = type(error).__module__.startswith("torch") and not isinstance(error, BackendCompilerFailed)
        kind = NO_REFERENCE if is_of_torch else CRASH
        return f"{kind}: {type(inner).__name__} {_line(inner)}"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def _difference(wanted: Sequence[torch.Tensor], found: Sequence[torch.Tensor], sample: Sample) -> str:
    for a, b in zip(wanted, found, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{DIFFERS}: {b.dtype} {list(b.shape)} in place of {a.dtype} {list(a.shape)}"
        if sample.is_exact and not torch.allclose(b, a, *_tolerance(a.dtype), equal_nan=True):
            off = (b - a).abs().nan_to_num().max().item() if a.is_floating_point() or a.is_complex() else "?"
            return f"{DIFFERS}: by {off} of {a.abs().max().item() if a.dtype != torch.bool else 1}"
    return ""


def _tolerance(dtype: torch.dtype) -> tuple[float, float]:
    exact = not (dtype.is_floating_point or dtype.is_complex)
    return (0, 0) if exact else (1e-9, 1e-9) if dtype in (torch.float64, torch.complex128) else (2e-4, 2e-5)
