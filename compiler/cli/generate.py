"""mlc generate: text after a prompt, by a decoder in ONNX, with the speed of reading and writing it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.common import NoTuned, Threads
from mlc.errors import InputError, visible

if TYPE_CHECKING:
    from mlc.generation import Session
    from mlc.generation.tokens import Tokenizer


def command(
    model: Annotated[Path, typer.Argument(help="A decoder in ONNX.", metavar="MODEL", show_default=False)],
    prompt: Annotated[str | None, typer.Option(help="The text to go on from.", show_default=False)] = None,
    tokens: Annotated[
        str | None, typer.Option(help="The prompt as numbers of tokens, in place of text: 1,15043.", show_default=False)
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(help="The tokenizer.json [default: that beside the model].", show_default=False)
    ] = None,
    count: Annotated[int, typer.Option("-n", "--max-tokens", min=1, help="Most tokens to add.")] = 64,
    temperature: Annotated[float, typer.Option(help="0: the most likely token; higher: more varied.")] = 0.0,
    top_k: Annotated[int, typer.Option(help="Draw from so many of the likeliest tokens; 0: from all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Draw from the fewest tokens of this probability.")] = 1.0,
    min_p: Annotated[
        float, typer.Option(help="Draw from tokens of at least this share of the largest probability.")
    ] = 0.0,
    repetition_penalty: Annotated[
        float, typer.Option(help="Above 1: tokens of prompt and text become less likely.")
    ] = 1.0,
    seed: Annotated[int | None, typer.Option(min=0, help="Draw the same tokens again.", show_default=False)] = None,
    stop: Annotated[
        list[int] | None, typer.Option(help="A token that ends the text [default: those of the model's configuration].")
    ] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Tokens of the prompt that are read at once.")] = 512,
    cache: Annotated[
        int, typer.Option(min=0, help="Most tokens of prompt and text; 0: a power of two from 2048 on.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print tokens, text and speed as JSON, at the end.")] = False,
    threads: Threads = 0,
    no_tuned: NoTuned = False,
) -> None:
    """Generate text; stdout has the text, stderr the tokens a second and the share of the memory's bandwidth.

    \b
    mlc generate model.onnx --prompt 'Once upon a time' -n 100
    mlc generate model.onnx --prompt 'Dear' --temperature 0.8 --top-k 40 --top-p 0.95 --seed 1
    mlc generate model.onnx --tokens 1,15043,3186
    """
    from mlc.generation import Session, generate
    from mlc.generation.sampling import Sampling
    from mlc.generation.session import room_for
    from mlc.generation.tokens import Tokenizer, beside, ends_of

    if (prompt is None) == (tokens is None):
        raise InputError("The prompt is given twice, or not at all", hint="Give --prompt TEXT or --tokens 1,2,3")
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    how["repetition_penalty"] = repetition_penalty
    Sampling(**how)  # type: ignore[arg-type]
    reader = None
    if prompt is not None:
        reader = Tokenizer(tokenizer or beside(model, "tokenizer.json") or model.with_name("tokenizer.json"))
    given = _numbers(tokens) if tokens is not None else reader.encode(prompt or "") if reader else []
    room = cache or room_for(len(given) + count)
    session = Session.open(model, threads or None, chunk, tuned=not no_tuned, room=room)
    ends = set(stop) if stop else ends_of(model)
    made = generate(session, given, count, seed=seed, stop=ends, **how)  # type: ignore[arg-type]
    if as_json:
        found = list(made)
        text = {"text": reader.decode(found)} if reader else {}
        print(json.dumps({"tokens": found, **text, **_record(session, threads)}, indent=1))
        return
    _write(made, prompt, reader)
    _tell(session, threads)


def _numbers(text: str) -> list[int]:
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isdecimal() for part in parts):
        raise InputError(f"'--tokens {text}' is no list of tokens", hint="Write it as --tokens 1,15043")
    return [int(part) for part in parts]


def _write(made: Iterable[int], prompt: str | None, reader: Tokenizer | None) -> None:
    """Print text as it comes, or the numbers of tokens."""
    from mlc.generation.tokens import Printer

    printer = Printer(reader) if reader else None
    if prompt is not None:
        print(visible(prompt), end="", flush=True)
    for number, token in enumerate(made):
        text = visible(printer.new(token)) if printer else f"{',' if number else ''}{token}"
        print(text, end="", flush=True)
    print()
    sys.stdout.flush()


def _tell(session: Session, threads: int) -> None:
    """The speed of both phases, on stderr."""
    from mlc.tools.progress import Verbosity, note, verbosity

    if verbosity is Verbosity.QUIET:
        return
    found = _record(session, threads)
    note(f"prompt: {found['prompt_tokens']} tokens, {found['prompt_tokens_per_second']:,.1f} tokens/s")
    if "tokens_per_second" not in found:
        return
    rate, moved = found["tokens_per_second"], found["bytes_per_token"]
    note(f"text: {session.timing.steps} tokens, {rate:,.1f} tokens/s, {moved / 1e6:,.1f} MB a token")
    note(f"{moved * rate / 1e9:.2f} GB/s, {found['share_text']} of the measured read bandwidth")


def _record(session: Session, threads: int) -> dict[str, Any]:
    """The times of a session, and the share of the read bandwidth in the steps after the prompt."""
    from mlc.tools.peak import peak_of

    timing = session.timing
    found: dict[str, Any] = {"prompt_tokens": timing.prompt_tokens}
    found["prompt_tokens_per_second"] = timing.prompt_tokens / max(timing.prompt_seconds, 1e-9)
    if timing.steps:
        seconds, moved, peak = timing.step_seconds / timing.steps, session.bytes_of_a_step(), peak_of("cpu", threads)
        found |= {"tokens_per_second": 1 / seconds, "bytes_per_token": moved, "read_bandwidth": peak.bytes}
        found |= {"share": peak.share(0, moved, seconds), "share_text": peak.share_text(0, moved, seconds)}
    return found
