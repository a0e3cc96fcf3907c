"""Generation beside a model that sees all tokens anew in each step; sampling beside NumPy; LoRA beside its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.generation.sampling import Sampling

WORDS, WIDTH, HEADS, MOST = 11, 16, 4, 20
Known = np.ndarray[Any, Any]


class Block(nn.Module):
    """Attention whose keys have half of the heads, and two linear layers."""

    query: nn.Linear
    key_value: nn.Linear
    out: nn.Linear
    wide: nn.Linear
    back: nn.Linear

    def __init__(self) -> None:
        self.query, self.key_value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.out, self.wide, self.back = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 32), nn.Linear(32, WIDTH)

    def __call__(self, x: Any, cache: Any) -> Any:
        split = lambda y, heads: mnp.permute_dims(mnp.reshape(y, (*y.shape[:2], heads, -1)), (0, 2, 1, 3))  # noqa: E731
        both = self.key_value(x)
        parts = split(self.query(x), HEADS), split(both[..., : WIDTH // 2], 2), split(both[..., WIDTH // 2 :], 2)
        found, cache = nn.cached_attention(*parts, cache)
        x = x + self.out(mnp.reshape(mnp.permute_dims(found, (0, 2, 1, 3)), x.shape))
        return x + self.back(nn.gelu(self.wide(x))), cache


class Decoder(nn.Module):
    """Two blocks on words with positions."""

    words: nn.Embedding
    positions: nn.Embedding
    blocks: list[Block]
    head: nn.Linear

    def __init__(self) -> None:
        self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(MOST, WIDTH)
        self.blocks, self.head = [Block(), Block()], nn.Linear(WIDTH, WORDS)

    def __call__(self, tokens: Any, cache: Any) -> Any:
        at = cache[0].length + mnp.arange(tokens.shape[1])
        x = self.words(tokens) + self.positions(at)
        after = []
        for block, each in zip(self.blocks, cache, strict=True):
            x, each = block(x, each)
            after.append(each)
        return 4 * self.head(x), after


@pytest.fixture(scope="module")
def model() -> Decoder:
    nn.manual_seed(0)
    return Decoder()


def empty(batch: int) -> list[nn.KVCache]:
    return [nn.KVCache.empty(batch, 2, MOST, WIDTH // HEADS) for _ in range(2)]


def prompt(batch: int = 3, length: int = 4) -> Known:
    return np.random.default_rng().integers(0, WORDS, (batch, length))


def scores(model: Decoder, tokens: Known) -> Known:
    """Of all tokens at once, in NumPy and without a cache."""
    weight = {name: np.asarray(value, np.float64) for name, value in model.state_dict().items()}
    linear = lambda x, name: x @ weight[f"{name}.weight"].T + weight[f"{name}.bias"]  # noqa: E731
    x = weight["words.weight"][tokens] + weight["positions.weight"][: tokens.shape[1]]
    batch, count = tokens.shape
    for n in range(2):
        q = linear(x, f"blocks.{n}.query").reshape(batch, count, HEADS, -1)
        both = linear(x, f"blocks.{n}.key_value")
        k, v = (np.repeat(y.reshape(batch, count, 2, -1), 2, axis=2) for y in np.split(both, 2, axis=-1))
        products = np.einsum("bqhd,bkhd->bhqk", q, k) / 2
        products = np.where(np.tril(np.ones((count, count), bool)), products, -np.inf)
        share = np.exp(products - products.max(-1, keepdims=True))
        found = np.einsum("bhqk,bkhd->bqhd", share / share.sum(-1, keepdims=True), v).reshape(batch, count, WIDTH)
        x = x + linear(found, f"blocks.{n}.out")
        x = x + linear(np.asarray(nn.gelu(linear(x, f"blocks.{n}.wide"))), f"blocks.{n}.back")
    return 4 * linear(x, "head")


def test_scores_with_a_cache_are_those_without(model: Decoder) -> None:
    tokens = prompt(length=7)
    first, cache = model(tokens[:, :4], empty(3))
    rest = [first]
    for n in range(4, 7):
        found, cache = model(tokens[:, n : n + 1], cache)
        rest.append(found)
    np.testing.assert_allclose(mnp.concat(rest, axis=1), scores(model, tokens), rtol=1e-3, atol=1e-4)


def test_greedy_generation_is_the_largest_score_each_time(model: Decoder) -> None:
    tokens = prompt()
    write = mlc.jit(lambda model, tokens, cache: nn.generate(model, tokens, cache, max_new_tokens=9))
    found = np.asarray(write(model, tokens, empty(3)))
    whole = tokens
    for _ in range(9):
        whole = np.concatenate([whole, scores(model, whole)[:, -1].argmax(-1)[:, None]], axis=1)
    np.testing.assert_array_equal(found, whole[:, 4:])


def test_generation_ends_at_a_token_and_fills_up(model: Decoder) -> None:
    tokens = prompt()
    free = np.asarray(nn.generate(model, tokens, empty(3), max_new_tokens=9))
    eos = int(free[0, 2])
    found = np.asarray(nn.generate(model, tokens, empty(3), max_new_tokens=9, eos=eos, pad=99))
    for row, wanted in zip(found, free, strict=True):
        ends = np.flatnonzero(wanted == eos)
        last = ends[0] + 1 if len(ends) else 9
        assert row[:last].tolist() == wanted[:last].tolist() and np.all(row[last:] == 99)


def test_drawn_tokens_are_functions_of_the_key(model: Decoder) -> None:
    tokens = prompt()
    write = mlc.jit(lambda key: nn.generate(model, tokens, empty(3), max_new_tokens=9, key=key, top_k=5, top_p=0.95))
    first, second = (np.asarray(write(mnp.random.key(n))) for n in (1, 2))
    assert np.array_equal(first, write(mnp.random.key(1))) and not np.array_equal(first, second)
    only = nn.generate(model, tokens, empty(3), max_new_tokens=9, key=mnp.random.key(0), top_k=1)
    np.testing.assert_array_equal(only, nn.generate(model, tokens, empty(3), max_new_tokens=9))


HOW = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


def filtered(
    scores: Known, seen: Known, temperature: float, top_k: Any, top_p: Any, min_p: Any, penalty: float
) -> Known:
    """As transformers does it with one row: penalty, temperature, top-k, top-p by an ascending stable sort, min-p."""
    scores = np.where(seen, np.where(scores < 0, scores * penalty, scores / penalty), scores) / temperature
    if top_k:
        scores = np.where(scores < np.sort(scores)[-min(top_k, len(scores))], -np.inf, scores)
    if top_p:
        order = np.argsort(scores, kind="stable")
        sums = np.cumsum(np.exp(scores[order]) / np.exp(scores).sum())
        scores[order[:-1][sums[:-1] <= 1 - top_p]] = -np.inf
    shares = np.exp(scores) / np.exp(scores).sum()
    return np.where(shares < (min_p or 0) * shares.max(), -np.inf, scores)


@pytest.mark.parametrize("how", [
    (1.0, None, None, None, 1.0), (0.5, 3, None, None, 1.0), (2.0, None, 0.6, None, 1.0), (1.0, 5, 0.8, None, 1.3),
    (1.0, 99, 1.0, 0.0, 0.7), (0.8, 6, 0.9, 0.2, 1.2), (1.0, None, 0.3, None, 1.0), (1.0, None, None, 0.5, 1.0),
])  # fmt: skip
def test_filtered_scores(how: tuple[Any, ...]) -> None:
    """Of many equal scores, too; both ways to draw take them from here."""
    random = np.random.default_rng()
    logits = np.round(random.standard_normal((6, 9)), 1).astype(np.float32)
    seen = random.random((6, 9)) < 0.3
    found = np.asarray(nn.filtered_logits(logits, seen=seen, **dict(zip(HOW, how, strict=True))))
    wanted = np.array([filtered(row.astype(np.float64), there, *how) for row, there in zip(logits, seen, strict=True)])
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    sampling = Sampling(how[0], how[1] or 0, how[2] or 1.0, how[3] or 0.0, how[4])
    scores = sampling.scores(logits[0], np.flatnonzero(seen[0]).tolist())
    np.testing.assert_allclose(scores, wanted[0], rtol=1e-5)


def test_a_penalty_in_the_loop(model: Decoder) -> None:
    tokens = prompt()
    write = mlc.jit(lambda t, c: nn.generate(model, t, c, max_new_tokens=6, repetition_penalty=3.0))
    found = np.asarray(write(tokens, empty(3)))
    for row in range(3):
        whole = tokens[row]
        for token in found[row]:
            last = scores(model, whole[None])[0, -1]
            last[whole] = np.where(last[whole] > 0, last[whole] / 3, last[whole] * 3)
            assert token == last.argmax()
            whole = np.append(whole, token)


def test_tokens_are_drawn_by_their_probabilities() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1]))
    draw = mlc.jit(lambda key: nn.sample_token(mnp.broadcast_to(logits, (4000, 4)), key, top_k=3))
    shares = np.bincount(np.asarray(draw(mnp.random.key(0))), minlength=4) / 4000
    np.testing.assert_allclose(shares, np.array([0.5, 0.25, 0.15, 0]) / 0.9, atol=0.03)
    assert int(nn.sample_token(logits, mnp.random.key(0), temperature=0)) == 0


def test_lora() -> None:
    nn.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    x = np.random.default_rng().standard_normal((6, 5)).astype(np.float32)
    adapters = nn.lora_init(model, 2, alpha=6)
    assert list(adapters) == ["0.weight", "2.weight"] and adapters["0.weight"].down.shape == (2, 5)
    np.testing.assert_allclose(nn.lora_apply(model, adapters)(x), model(x))

    def loss(adapters: Any) -> Any:
        return mnp.sum(nn.lora_apply(model, adapters)(x) ** 2)

    gradient = mlc.jit(mlc.grad(loss))(adapters)
    by_weight = mlc.grad(lambda m: mnp.sum(m(x) ** 2))(model)
    wanted = 3 * np.asarray(by_weight[2].weight) @ np.asarray(adapters["2.weight"].down).T
    np.testing.assert_allclose(gradient["2.weight"].up, wanted, rtol=1e-4)
    assert not np.any(np.asarray(gradient["2.weight"].scale)) and not np.any(np.asarray(gradient["2.weight"].down))
    moved = mlc.tree_map(lambda a, g: a - 0.01 * g, adapters, gradient)
    merged = nn.lora_apply(model, moved)
    change = 3 * np.asarray(moved["0.weight"].up) @ np.asarray(moved["0.weight"].down)
    np.testing.assert_allclose(merged[0].weight, np.asarray(model[0].weight) + change, rtol=1e-5, atol=1e-6)
    assert float(loss(moved)) < float(loss(adapters))
    assert list(nn.lora_init(model, 2, names=lambda name: name.startswith("2"))) == ["2.weight"]


@pytest.mark.parametrize("call, says", [
    (lambda m: nn.generate(m, np.zeros((2, 0), int), empty(2), max_new_tokens=1), "cannot follow"),
    (lambda m: nn.generate(m, prompt(2), empty(2), max_new_tokens=0), "0 tokens"),
    (lambda m: nn.filtered_logits(np.zeros(3), top_p=0.0), "top_p=0.0"),
    (lambda m: nn.filtered_logits(np.zeros(3), min_p=1.5), "min_p=1.5"),
    (lambda m: nn.filtered_logits(np.zeros(3), repetition_penalty=2.0), "needs to know which"),
    (lambda m: nn.lora_init(m, 0), "rank 0"),
    (lambda m: nn.lora_init(m, 2, names=lambda name: False), "adapter of rank 2"),
    (lambda m: nn.lora_apply(m, nn.lora_init(nn.Sequential(nn.Linear(2, 2)), 1)), "no parameter '0.weight'"),
])  # fmt: skip
def test_what_is_refused(model: Decoder, call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call(model)
