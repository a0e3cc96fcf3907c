"""Messages of errors are sentences: a subject, what is wrong, how to go on (`test/messages.py` lists them)."""

from __future__ import annotations

import re

from messages import Message, messages

SENTENCES = {"InputError", "ArgumentError", "TraceError", "ShapeError", "RunError", "ArtifactError", "ToolchainError",
             "OutputError", "SizeError", "GuardError", "MlcError", "IndexError", "ValueError", "TypeError"}  # fmt: skip
STATES = re.compile(
    r"\b(is|are|was|were|has|have|had|must|cannot|can|needs?|does|do|takes?|gives?|reads?|says?|fits?|lacks?|fails?"
    r"|failed|divide|uses?|names?|returns?|draws?|ends?|broadcast|accepts?|repeats?|would|computes?|calls?|imports?"
    r"|depends|overlaps?|asks|exists?|concatenate|allowed|differ|selects|holds?|starts|unknown|splits|changes|begins|differs|ended|waited|shifts|updates|run|came)\b",
    re.IGNORECASE,
)
"""A verb, or "unknown": without one a message names a thing, and not what is wrong with it."""
QUOTES = {"apply_schedules.py", "functions.py", "mistakes.py", "stateful.py", "sizes.py", "trainer.py",
          "ends.py"}  # fmt: skip
"""Files with a message that is another error's, after its line or name."""


def _bare(text: str) -> str:
    return text.replace("{}", "").replace("⟨or⟩", " ")


def _is_quoted(message: Message) -> bool:
    """Whether it has no words of its own."""
    return not re.search("[a-z]{2}", _bare(message.text)) or message.place.split(":")[0].split("/")[-1] in QUOTES


def test_messages_say_what_is_wrong() -> None:
    every = [each for each in messages() if each.error in SENTENCES]
    assert len(every) > 400
    found = [f"{m.place}: {m.text}" for m in every if not _is_quoted(m) and not STATES.search(_bare(m.text))]
    assert not found, "Messages without a verb:\n" + "\n".join(found)


def test_hints_are_sentences() -> None:
    """They begin with a capital letter, a quote or a name of code, and have no full stop: the error adds it."""
    hints = [each for each in messages() if each.hint]
    assert len(hints) > 200
    for message in hints:
        for hint in message.hint.split("⟨or⟩"):
            begins = hint in ("None", "") or re.match(r"[A-Z0-9{'`(\"]|[a-z_.]+[(\[=. ]", hint)
            assert begins and not hint.endswith("."), f"{message.place}: {hint}"


def test_the_script_reads_strings_and_names() -> None:
    """A text that is a variable of the function, both sides of a condition, and the hint."""
    found = {each.text: each.hint for each in messages()}
    assert found["--top has no effect without --profile"] == "Add --profile, or leave out --top"
    assert any("⟨or⟩" in text for text in found)
