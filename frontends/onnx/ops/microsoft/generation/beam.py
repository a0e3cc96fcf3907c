"""BeamSearch of a decoder alone (GPT-2)."""

from __future__ import annotations

from dataclasses import replace

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.generation.beams import Beams, Scorer
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.generation.decoder import Decoder, filled, positions_of
from mlc.frontends.onnx.ops.microsoft.generation.greedy import READ, rules_of, whole_number


@onnx_op("BeamSearch", domain=DOMAIN)
def beam_search(node: Node) -> tuple[Tensor, Tensor]:
    """([B, sequences, max_length] tokens (i32), their values [B, sequences]).

    The first step sees all given tokens. The others are iterations of a loop, which ends where all batches have.
    """
    if node.attr("model_type", 0) != 0:
        raise NotSupported("an encoder beside the decoder; compile both alone, and search in a program")
    node.only(*READ, "early_stopping", model_type=0)
    if node.wants(2) or node.has(10):
        raise NotSupported("the output scores, or decoder_input_ids; export without them")
    if node.has(11) and node.scalar(11) != 0:
        raise NotSupported("a logits_processor, which is of one model; export without it")
    return _Search(node).results()


class _Search:
    """The constants of a search."""

    def __init__(self, node: Node) -> None:
        self.node, self.build = node, node.build
        self.most, self.count = whole_number(node, 1, "max_length"), whole_number(node, 3, "num_beams")
        self.returned = whole_number(node, 4, "num_return_sequences")
        if not 1 <= self.returned <= self.count:
            raise NotSupported(f"{self.returned} sequences of {self.count} beams; num_return_sequences is too large")
        self.decoder = Decoder(node, node.attr("decoder"))
        end, pad, penalty = node.attr("eos_token_id"), node.attr("pad_token_id"), node.get(5)
        self.rules = rules_of(node, end, least=2, penalty=6)
        one = node.build.constant(1.0, "f32")
        self.scorer = Scorer(
            node.build, self.count, one if penalty is None else penalty, bool(node.attr("early_stopping", 0)), end, pad
        )

    def results(self) -> tuple[Tensor, Tensor]:
        build, pad = self.build, self.scorer.pad
        ids = build.cast(self.node[0], "i64")
        batch, given = ids.shape
        build.require(self.most, given + 1)
        mask = self.node.get(9)
        mask = build.map(f"i64(x0 != {pad})", ids) if mask is None else build.cast(mask, "i64")
        first = Decoder(self.node, self.node.attr("init_decoder", self.decoder.graph))
        none = [self.decoder.none(batch, 0)] * self.decoder.layers
        scores, present = first.run(ids, positions_of(build, mask), mask, none)
        tokens = self._each(build.pad(ids, [0, 0], [0, self.most - given], "0"))
        state = self.scorer.start(tokens, batch)
        state, last, _ = self._chosen(state, self._each(scores), given, first=True)  # of equal beams
        seen = self._each(build.pad(mask, [0, 0], [0, self.most - given], "1"))
        position = self._each(build.reduce("add", mask, [1]))
        buffers = [self._each(filled(build, x, self.most), 1) for x in present]
        if self.most != given + 1:
            count = build.map(f"x0 + {given}", build.constant(0, "i64"))
            states = [*state.states, last, position, count, *buffers]
            trips = self.most - given - 1
            found = emit_loop(build, trips, states, lambda _, s: self._step(s, seen), active=self._goes_on(state))
            state = Beams(*found[:5])
        sequences, values = self.scorer.results(state, self.returned)
        return build.cast(sequences, "i32"), values

    def _each(self, x: Tensor, axis: int = 0) -> Tensor:
        """``x`` with each element of an axis once a beam."""
        names = [f"i{k} // {self.count}" if k == axis else f"i{k}" for k in range(x.rank)]
        shape = [d * self.count if k == axis else d for k, d in enumerate(x.shape)]
        return self.build.compute(f"x0[{', '.join(names)}]", [x], shape)

    def _step(self, states: list[Tensor], seen: Tensor) -> Iteration:
        build, state, (last, position, count, *past) = self.build, Beams(*states[:5]), states[5:]
        length = build.dim(build.scalars.of(count).flat[0], "tokens so far", self.most - 1)
        column = (last.shape[0], 1)
        rows = [build.cut(x, 3, 0, length) for x in past]
        mask = build.cut(seen, 1, 0, length + 1)
        scores, present = self.decoder.run(build.reshape(last, column), build.reshape(position, column), mask, rows)
        state, last, beam = self._chosen(state, scores, length + 1, first=False)
        text = f"where(i3 == {length}, x1[i0, x2[i1], i2, {length}, i4], x0[i0, x2[i1], i2, i3, i4])"
        past = [build.compute(text, [x, new, beam], x.shape) for x, new in zip(past, present, strict=True)]
        after = [*state.states, last, build.map("x0 + 1", position), build.map("x0 + 1", count), *past]
        return Iteration(after, condition=self._goes_on(state))

    def _goes_on(self, state: Beams) -> Tensor:
        return self.build.map("x0 == 0", self.build.reduce("min", state.done, [0]))

    def _chosen(self, state: Beams, scores: Tensor, length: DimLike, first: bool) -> tuple[Beams, Tensor, Tensor]:
        build, size = self.build, self.node.attr("vocab_size", -1)
        scores = build.cut(scores, 1, 0, size) if size > 0 else scores
        scores = softmax(build, scores, [1], log=True)
        rules = self.rules
        if first and rules.first is not None:
            rules = replace(rules, first=self._each(rules.first))
        return self.scorer.step(state, rules.applied(build, scores, state.tokens, length, first), length)
