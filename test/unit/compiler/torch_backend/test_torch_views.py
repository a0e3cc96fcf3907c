"""Results of torch.compile that are views: at their offsets, in the memory of what they are views of."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")


def views(x: Any, w: Any) -> list[Any]:
    half, y = x.shape[0] // 2, x * 2
    return [
        *(x[half:], *x.split([2, x.shape[0] - 2]), *x.chunk(2), x.expand(3, -1), x[None], x.view(-1)),
        *(w.t(), w[:, 1], w[-1], w.unfold(0, 2, 1), w[1:, ::2].unsqueeze(1)),
        *(y, y[half:], (x * 3)[half:], w.mT + 1),
    ]


def in_memory_of(results: list[Any], x: Any) -> list[bool]:
    return [y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for y in results]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("trained", [True, False])
def test_views(dynamic: bool, trained: bool) -> None:
    torch._dynamo.reset()
    fast = torch.compile(views, backend="mlc", dynamic=dynamic, options={"fallback": False})
    for n in (7, 10) if dynamic else (7,):
        given = torch.randn(n, requires_grad=trained), torch.randn(4, 4, requires_grad=trained)
        wanted, found = views(*given), fast(*given)
        torch.testing.assert_close(found, wanted)
        for x in given:
            assert in_memory_of(found, x) == in_memory_of(wanted, x)
        if trained:
            grads = [torch.autograd.grad(sum((y**2).sum() for y in ys), given) for ys in (found, wanted)]
            torch.testing.assert_close(*grads)


@pytest.mark.filterwarnings("ignore")
def test_gradients_of_parts_of_unknown_length() -> None:
    """Of the backward program no argument has the length itself: a multiple of it, or it and something more."""
    torch._dynamo.reset()

    def parts(x: Any) -> Any:
        return *x.split([2, x.shape[0] - 2]), *x.chunk(2), (x * 3)[x.shape[0] // 2 :]

    for k in (slice(0, 2), slice(2, 4), slice(4, 5)):
        fast = torch.compile(lambda x, k=k: parts(x)[k], backend="mlc", dynamic=True, options={"fallback": False})
        for n in (7, 10):
            a, b = (torch.arange(n * 1.0).requires_grad_() for _ in range(2))
            for call, x in ((lambda x, k=k: parts(x)[k], a), (fast, b)):
                sum((y**2).sum() for y in call(x)).backward()
            torch.testing.assert_close(b.grad, a.grad)
