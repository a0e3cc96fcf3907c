"""torch.compile(dynamic=True): sizes that are computed, and a Llama whose lengths vary, in one program each."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._dynamo.utils import counters  # noqa: E402

F = torch.nn.functional
ONLY = {"fallback": False}


def computed(x: Any, y: Any, z: Any) -> list[Any]:
    a, b, c = x.shape[0], y.shape[0], z.shape[0]
    return [
        torch.cat([x, y, z]) * torch.arange(a + b + c),
        torch.zeros(torch.sym_max(a, b)) + torch.sym_min(a, c),
        torch.ones(a**2).cumsum(0) * b**3,
        *(x.roll(b), y.roll(-c), F.pad(x, (0, -a % 4)), F.pad(x, (0, max(0, 8 - a))), x[a // 2 :]),
    ]


@pytest.mark.filterwarnings("ignore")
def test_sizes_that_are_computed() -> None:
    torch._dynamo.reset()
    fast = torch.compile(computed, backend="mlc", dynamic=True, options=ONLY)
    for sizes in ((3, 4, 5), (6, 2, 7)):
        given = [torch.randn(n) for n in sizes]
        for a, b in zip(fast(*given), computed(*given), strict=True):
            torch.testing.assert_close(a, b)


def rotated(x: Any, at: Any) -> Any:
    """Rotary embedding of [batch, heads, length, size] at positions."""
    half = x.shape[-1] // 2
    angles = at[:, None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


class Layer(torch.nn.Module):
    """Attention of 4 heads with keys and values of 2, and a gated perceptron, after RMSNorm each."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(width) for _ in range(2))
        self.qkv, self.out = torch.nn.Linear(width, 2 * width, bias=False), torch.nn.Linear(width, width, bias=False)
        self.up, self.down = torch.nn.Linear(width, 6 * width), torch.nn.Linear(3 * width, width)

    def forward(self, x: Any, at: Any, cache: Any) -> Any:
        width = x.shape[-1]
        parts = self.qkv(self.norms[0](x)).split([width, width // 2, width // 2], -1)
        q, k, v = (t.unflatten(-1, (-1, width // 4)).transpose(1, 2) for t in parts)
        k, v = torch.cat([cache[0], rotated(k, at)], 2), torch.cat([cache[1], v], 2)
        mask = torch.arange(k.shape[2]) <= at[:, None]
        y = F.scaled_dot_product_attention(rotated(q, at), k, v, attn_mask=mask, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        gate, up = self.up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up), (k, v)


class Llama(torch.nn.Module):
    def __init__(self, words: int = 31, width: int = 16) -> None:
        super().__init__()
        self.words, self.layer = torch.nn.Embedding(words, width), Layer(width)
        self.norm = torch.nn.RMSNorm(width)

    def forward(self, tokens: Any, cache: Any) -> Any:
        before = cache[0].shape[2]
        at = torch.arange(before, before + tokens.shape[1])
        x, cache = self.layer(self.words(tokens), at, cache)
        return self.norm(x) @ self.words.weight.T, cache


def empty() -> Any:
    return torch.zeros(1, 2, 0, 4), torch.zeros(1, 2, 0, 4)


def test_a_llama_decodes_any_length_by_few_programs() -> None:
    """One program for prompts, one for the next token, whatever the cache has."""
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    net = Llama().eval()
    fast = torch.compile(net, backend="mlc", dynamic=True, options=ONLY)
    with torch.no_grad(), warnings.catch_warnings(action="ignore"):
        for length in (5, 9, 3):
            tokens, found, wanted = torch.randint(0, 31, (1, length)), empty(), empty()
            for _ in range(3):
                (y, found), (logits, wanted) = fast(tokens, found), net(tokens, wanted)
                torch.testing.assert_close(y, logits, rtol=1e-4, atol=1e-5)
                tokens = logits[:, -1:].argmax(-1)
    assert not counters["graph_break"]
    assert counters["stats"]["unique_graphs"] <= 3


def test_a_llama_trains_on_any_length_by_one_program() -> None:
    torch._dynamo.reset()
    counters.clear()
    eager, own = Llama(), Llama()
    own.load_state_dict(eager.state_dict())
    fast = torch.compile(own, backend="mlc", dynamic=True, options=ONLY)
    with warnings.catch_warnings(action="ignore"):
        for length in (5, 9):
            tokens = torch.randint(0, 31, (1, length))
            for call in (eager, fast):
                call(tokens, empty())[0].logsumexp(-1).mean().backward()
    for a, b in zip(own.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
    assert counters["stats"]["unique_graphs"] == 1


def test_an_unsupported_operator_splits_the_graph() -> None:
    """A warning names it and its line, once; the rest is compiled for all lengths."""
    torch._dynamo.reset()

    def function(x: Any) -> Any:
        return torch.tanh(torch.special.bessel_j0(torch.sin(x) @ x.T)) + x.shape[0]

    fast = torch.compile(function, backend="mlc", dynamic=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for length in (4, 7):
            x = torch.randn(length, 3)
            torch.testing.assert_close(fast(x), function(x))
    said = [str(each.message) for each in caught if str(each.message).startswith("mlc:")]
    assert len(said) == 1 and "special_bessel_j0 at test_torch_lengths.py:" in said[0] and "eager torch" in said[0]
