"""Tokens after a prompt, with caches, in chunks and one by one, are those of the whole sequence in onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from decoders import VOCABULARY, decoder, greedy, logits_of
from onnx import TensorProto, helper

import mlc
from mlc.cli import main
from mlc.generation import Session
from mlc.generation.sampling import Sampling
from mlc.generation.tokens import ends_of


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    return decoder(np.random.default_rng(5))


@pytest.fixture(scope="module")
def session(model: onnx.ModelProto) -> Session:
    return Session.open(model)


def test_greedy_tokens(model: onnx.ModelProto, session: Session) -> None:
    """Of prompts of one token, and of more than a chunk."""
    session.chunk = 4
    for prompt in ([7], list(range(3, 14))):
        assert list(mlc.generate(session, prompt, 12)) == greedy(model, prompt, 12)
        assert session.timing.prompt_tokens == len(prompt) and session.timing.steps == 11
        assert len(session.ids) == len(prompt) + 11


def test_logits_of_chunks_and_steps(model: onnx.ModelProto, session: Session) -> None:
    tokens = [int(t) for t in np.random.default_rng().integers(0, VOCABULARY, 17)]
    expected = logits_of(model, tokens)
    for chunk, read in ((1, 9), (4, 10), (512, 16)):
        session.chunk = chunk
        session.start()
        np.testing.assert_allclose(session.read(tokens[:read]), expected[read - 1], rtol=2e-4, atol=2e-4)
        for n in range(read, len(tokens)):
            np.testing.assert_allclose(session.step(tokens[n]), expected[n], rtol=2e-4, atol=2e-4)


def test_decoders_without_a_cache_and_of_single_tokens(model: onnx.ModelProto) -> None:
    """The first reads the whole sequence in each step, the second a prompt token by token."""
    plain = decoder(np.random.default_rng(5), cached=False)
    assert list(mlc.generate(plain, [3, 1, 4], 6)) == greedy(model, [3, 1, 4], 6)
    single = decoder(np.random.default_rng(5), length=1)
    assert list(mlc.generate(single, [3, 1, 4], 6)) == greedy(model, [3, 1, 4], 6)


def test_quantized_decoders_generate(model: onnx.ModelProto) -> None:
    made = mlc.quantize(model, mode="weights8").model
    assert list(mlc.generate(made, [3, 1, 4], 6)) == greedy(made, [3, 1, 4], 6)


def test_sampling() -> None:
    """Shares of draws are the probabilities; top-k and top-p leave out the rest."""
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1], np.float32))
    probabilities = Sampling(1.0).probabilities(logits)
    np.testing.assert_allclose(probabilities, [0.5, 0.25, 0.15, 0.1], rtol=1e-5)
    squares = probabilities**2 / (probabilities**2).sum()
    np.testing.assert_allclose(Sampling(0.5).probabilities(logits), squares, rtol=1e-5)
    np.testing.assert_allclose(Sampling(1.0, top_k=2).probabilities(logits), [2 / 3, 1 / 3, 0, 0], rtol=1e-5)
    np.testing.assert_allclose(Sampling(1.0, top_p=0.6).probabilities(logits), [2 / 3, 1 / 3, 0, 0], rtol=1e-5)
    assert Sampling(1.0, top_p=1e-9).probabilities(logits)[0] == Sampling().probabilities(logits)[0] == 1
    np.testing.assert_allclose(Sampling(1.0, min_p=0.4).probabilities(logits), [2 / 3, 1 / 3, 0, 0], rtol=1e-5)
    random = np.random.default_rng()
    drawn = np.bincount([Sampling(1.0).draw(logits, random) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(drawn, probabilities, atol=0.04)


def test_tokens_that_were_there_become_less_likely(model: onnx.ModelProto, session: Session) -> None:
    tokens = [3, 1, 4]
    for token in mlc.generate(session, tokens, 8, repetition_penalty=1.8):
        scores = logits_of(model, tokens)[-1]
        for seen in set(tokens):
            scores[seen] *= 1 / 1.8 if scores[seen] > 0 else 1.8
        assert token == scores.argmax()
        tokens.append(token)


def test_seeds_and_stops(session: Session) -> None:
    def drawn(seed: int) -> list[int]:
        return list(mlc.generate(session, [1, 2], 20, temperature=2.0, seed=seed))

    assert drawn(1) == drawn(1) != drawn(2)
    tokens = list(mlc.generate(session, [1, 2], 20))
    assert list(mlc.generate(session, [1, 2], 20, stop=[tokens[4]])) == tokens[: tokens.index(tokens[4]) + 1]


def test_what_is_wrong(model: onnx.ModelProto, session: Session) -> None:
    for arguments, message in (
        ({"prompt": []}, "prompt has no token"),
        ({"prompt": [VOCABULARY]}, f"token {VOCABULARY}, and the model has {VOCABULARY}"),
        ({"prompt": [1], "count": 0}, "0 tokens"),
        ({"prompt": [1], "temperature": -1.0}, "temperature is -1"),
        ({"prompt": [1], "top_p": 0.0}, "top_p is 0"),
        ({"prompt": [1], "top_k": -2}, "top_k is -2"),
        ({"prompt": [1], "min_p": 2.0}, "min_p is 2"),
        ({"prompt": [1], "repetition_penalty": 0.0}, "repetition_penalty is 0"),
    ):
        with pytest.raises(mlc.InputError, match=message):
            list(mlc.generate(session, **arguments))  # type: ignore[arg-type]
    other = onnx.ModelProto()
    other.CopyFrom(model)
    other.graph.input.append(helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, [1]))
    with pytest.raises(mlc.InputError, match="Input 'pixel_values' is not known"):
        Session.open(other)
    del other.graph.input[:]
    with pytest.raises(mlc.InputError, match="no input 'input_ids'"):
        Session.open(other)
    fixed = decoder(np.random.default_rng(), length=8)
    with pytest.raises(mlc.InputError, match="reads 8 tokens at a time"):
        Session.open(fixed)


def test_ends(tmp_path: Path) -> None:
    assert ends_of(tmp_path / "onnx" / "model.onnx") == set()
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": 3}))
    (tmp_path / "onnx").mkdir()
    assert ends_of(tmp_path / "onnx" / "model.onnx") == {3}
    (tmp_path / "onnx" / "genai_config.json").write_text(json.dumps({"model": {"eos_token_id": [4, 5]}}))
    assert ends_of(tmp_path / "onnx" / "model.onnx") == {4, 5}


def test_the_command(model: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers, and text by a tokenizer of words; the speed is on stderr."""
    tokenizers = pytest.importorskip("tokenizers")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["generate", str(tmp_path / "net.onnx"), *arguments])
        return int(end.value.code or 0), *capsys.readouterr()

    onnx.save(model, tmp_path / "net.onnx")
    expected = greedy(model, [3, 1, 4], 5)
    status, out, err = run("--tokens", "3,1,4", "-n", "5")
    assert status == 0 and out == ",".join(map(str, expected)) + "\n"
    assert "prompt: 3 tokens" in err and "of the measured read bandwidth" in err
    status, out, _ = run("--tokens", "3,1,4", "-n", "5", "--json", "--cache", "64")
    record = json.loads(out)
    assert record["tokens"] == expected and record["prompt_tokens"] == 3 and record["bytes_per_token"] > 0
    assert record["share"] == pytest.approx(
        record["tokens_per_second"] * record["bytes_per_token"] / record["read_bandwidth"]
    )
    status, _, err = run("--tokens", "3,1,4", "-n", "5", "--cache", "4")
    assert status == 2 and "have room for 4 tokens, and there would be 5" in err
    status, _, err = run("--prompt", "a")
    assert status == 2 and "There is no tokenizer" in err
    words = {f"w{n}": n for n in range(VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": expected[2]}))
    status, out, err = run("--prompt", "w3 w1 w4", "-n", "5")
    shown = expected[: expected.index(expected[2]) + 1]
    assert status == 0 and out.split("w3 w1 w4")[1].split() == [f"w{n}" for n in shown]
    for arguments, message in (((), "given twice, or not at all"), (("--tokens", "a"), "is no list of tokens")):
        status, _, err = run(*arguments)
        assert status == 2 and message in err
