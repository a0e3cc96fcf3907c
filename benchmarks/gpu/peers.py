"""The library that products, attention, convolutions, models and training on a GPU are compared with."""

from __future__ import annotations

import importlib
import signal
import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
KEPT = 5.0  # seconds of a row's time that its peer leaves


def torch_on_gpu() -> Any:
    """torch with its default stream current, whose work the device's events time, and products of f32 in f32; None
    where torch has no GPU."""
    try:
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            return None
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    except Exception:
        return None
    return torch


def recorded(torch: Any, run: Callable[[], object]) -> Callable[[], object]:
    """The replay of a CUDA graph of what a run enqueues: without the time of torch's calls, as mlc's graphs have none.

    Recorded after three runs, in which libraries choose their kernels."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = run()
    return lambda: (graph.replay(), kept)


def beside(peer: Callable[[], Row], seconds: float = 60.0) -> Row:
    """The figures of a peer. Where it fails, or takes so long that the row's own time would be over, the row stays, and
    says why."""
    start, (left, _) = time.monotonic(), signal.getitimer(signal.ITIMER_REAL)
    before = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, max(min(seconds, left - KEPT if left else seconds), 0.01))
    try:
        return peer()
    except Exception as failure:  # whatever a compiler of kernels raises
        return {"torch says": f"{type(failure).__name__}: {failure}"[:120]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - start), 0.01) if left else 0)
        signal.signal(signal.SIGALRM, before)


def _late(*_: object) -> None:
    raise TimeoutError("it took too long")
