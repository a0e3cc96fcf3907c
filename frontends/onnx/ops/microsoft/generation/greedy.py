"""GreedySearch: a decoder's best token, again and again."""

from __future__ import annotations

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.generation.scores import Rules
from mlc.frontends.build.ops.reduction import arg_extreme
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.generation.decoder import Decoder, filled, positions_of, with_row

READ = (
    *("decoder", "init_decoder", "eos_token_id", "pad_token_id", "no_repeat_ngram_size", "vocab_size"),
    "decoder_start_token_id",
)


@onnx_op("GreedySearch", domain=DOMAIN)
def greedy_search(node: Node) -> Tensor:
    """[B, max_length] tokens (i32) that begin with those given, [B, S]; padded after the token that ends a sequence.

    The first step sees all given tokens. The others are iterations of a loop, which ends where all sequences have.
    """
    node.only(*READ, model_type=0)
    return _Search(node).tokens()


class _Search:
    """The constants of a search."""

    def __init__(self, node: Node) -> None:
        self.node, self.build = node, node.build
        self.most = whole_number(node, 1, "max_length")
        self.ids = self.build.cast(node[0], "i64")
        self.end, self.pad = node.attr("eos_token_id"), node.attr("pad_token_id")
        self.decoder = Decoder(node, node.attr("decoder"))
        self.rules = rules_of(node, self.end, least=2, penalty=3)

    def tokens(self) -> Tensor:
        build, (batch, given) = self.build, self.ids.shape
        build.require(self.most, given + 1)
        mask = self.node.get(6)
        mask = build.map(f"i64(x0 != {self.pad})", self.ids) if mask is None else build.cast(mask, "i64")
        positions = positions_of(build, mask)
        first = Decoder(self.node, self.node.attr("init_decoder", self.decoder.graph))
        none = [self.decoder.none(batch, 0)] * self.decoder.layers
        scores, present = first.run(self.ids, positions, mask, none)
        tokens = build.pad(self.ids, [0, 0], [0, self.most - given], "0")
        done = build.broadcast(build.constant(0, "i64"), (batch,))
        tokens, last, done = self._chosen(scores, tokens, done, given, first=True)
        if self.most == given + 1:
            return build.cast(tokens, "i32")
        seen = build.pad(mask, [0, 0], [0, self.most - given], "1")
        next_position = build.reduce("add", mask, [1])
        buffers = [filled(build, x, self.most) for x in present]
        count = build.constant(0, "i64")
        states = [tokens, last, done, next_position, build.map(f"x0 + {given}", count), *buffers]
        found = emit_loop(
            build, self.most - given - 1, states, lambda _, s: self._step(s, seen), active=self._goes_on(done)
        )
        return build.cast(found[0], "i32")

    def _step(self, states: list[Tensor], seen: Tensor) -> Iteration:
        build, (tokens, last, done, position, count, *past) = self.build, states
        length = build.dim(build.scalars.of(count).flat[0], "tokens so far", self.most - 1)
        column = (tokens.shape[0], 1)
        mask = build.cut(seen, 1, 0, length + 1)
        rows = [build.cut(x, 3, 0, length) for x in past]
        scores, present = self.decoder.run(build.reshape(last, column), build.reshape(position, column), mask, rows)
        past = [with_row(build, x, new, length) for x, new in zip(past, present, strict=True)]
        tokens, last, done = self._chosen(scores, tokens, done, length + 1, first=False)
        after = [tokens, last, done, build.map("x0 + 1", position), build.map("x0 + 1", count), *past]
        return Iteration(after, condition=self._goes_on(done))

    def _goes_on(self, done: Tensor) -> Tensor:
        """Whether some sequence has not ended."""
        return self.build.map("x0 == 0", self.build.reduce("min", done, [0]))

    def _chosen(
        self, scores: Tensor, tokens: Tensor, done: Tensor, length: DimLike, first: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(tokens with the best one at ``length``, that token, which sequences have ended)."""
        build, size = self.build, self.node.attr("vocab_size", -1)
        scores = build.cut(scores, 1, 0, size) if size > 0 else scores
        scores = self.rules.applied(build, scores, tokens, length, first)
        best = arg_extreme(build, "max", scores, 1)
        done = build.map(f"max(x0, i64(x1 == {self.end}))", done, best)
        best = build.map(f"where(x1 > 0, {self.pad}, x0)", best, done)
        text = f"where(i1 == {length}, x1[i0], x0[i0, i1])"
        return build.compute(text, [tokens, best], tokens.shape), best, done


def whole_number(node: Node, n: int, name: str) -> int:
    """Input ``n``, which is a constant.

    Raises:
        NotSupported: it is none.
    """
    found = np.asarray(node.known(n)).reshape(-1)
    if found.size != 1 or isinstance(found[0], Dim):
        raise NotSupported(f"{name} is not one number; give it as a constant")
    return int(found[0])


def rules_of(node: Node, end: int, least: int, penalty: int) -> Rules:
    """The rules of inputs ``least``, and ``penalty`` to ``penalty + 2``: a penalty, and masks of the vocabulary."""
    build, given, fewest = node.build, node.get(penalty), node.get(least)
    none = given is None or (given.known is not None and float(given.known.reshape(-1)[0]) == 1)
    return Rules(
        penalty=None if none or given is None else build.cast(build.reshape(given, ()), "f32"),
        ngram=node.attr("no_repeat_ngram_size", 0),
        vocabulary=node.get(penalty + 1),
        first=node.get(penalty + 2),
        least=None if fewest is None else build.reshape(build.cast(fewest, "i64"), (1,)),
        end=end,
    )
