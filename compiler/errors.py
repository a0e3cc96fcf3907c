"""The errors of mlc: each states what happened, where, and what to do.

A leaf: every package imports it, and it imports none, so that ``mlc.runtime`` needs no part of the compiler.
"""

from __future__ import annotations

import re
import unicodedata

LONG_WORD = re.compile(r"\S{1000,}")
"""What is no name that anybody reads, but data or an attack."""
LONGEST = 16_000  # characters of an error


def visible(text: str, kept: str = "\n\t") -> str:
    """Text of a model as a terminal may show it: controls, such as those that begin an escape sequence, and marks that
    change the order of what is read are written as ``\\u001b``; those of ``kept`` stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in kept or _is_visible(c) else f"\\u{ord(c):04x}" for c in text)


def _is_visible(char: str) -> bool:
    """Whether a character is visible: no control, format mark (bidirectional ones too), surrogate or line separator."""
    return char == " " or unicodedata.category(char)[0] not in "CZ"


def _shortened(text: str) -> str:
    """Text with the middle of its longest words cut out, and cut off after what a reader would scroll to."""
    words = LONG_WORD.sub(lambda word: f"{word[0][:200]}[{len(word[0]) - 250} characters]{word[0][-50:]}", text)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]} [{len(words) - LONGEST} characters more]"


class MlcError(Exception):
    """The base class of mlc's errors; the command line prints them without a traceback.

    ``node`` is the source name of the model's node, ``op`` its operator, ``stage`` the compiler stage or the
    runtime step, ``hint`` what to try. All but ``message`` may be absent. ``str()`` is one short paragraph.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        node: str | None = None,
        op: str | None = None,
        stage: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.op = op
        self.stage = stage
        self.hint = hint

    def __str__(self) -> str:
        origin = (("node", self.node), ("operator", self.op), ("stage", self.stage))
        where = ", ".join(f"{label} '{name}'" for label, name in origin if name)
        text = self.message.rstrip(".") + (f" ({where})" if where else "") + "."
        return visible(_shortened(f"{text} {self.hint.rstrip('.')}." if self.hint else text))

    def __reduce__(self) -> tuple[object, ...]:
        # The default would lose the keyword-only fields when an error is pickled, as in a process pool.
        return _rebuild, (type(self), self.message, self.node, self.op, self.stage, self.hint)


class InputError(MlcError):
    """The user's input is at fault: a malformed model, an unsupported operator, a bad option. Exit code 2."""

    exit_code = 2


class ArtifactError(MlcError):
    """A compiled model cannot be loaded or saved: missing, damaged, of another ABI, or for another CPU. Exit code 2."""

    exit_code = 2


class RunError(MlcError):
    """A compiled model cannot run on these arrays: wrong names, dtypes or shapes, or no memory. Exit code 1."""


class ToolchainError(MlcError):
    """There is no C compiler, or it fails on generated code (a reproducer is then left on disk). Exit code 1."""


class OutputError(MlcError):
    """A result cannot be written: a full disk, a missing folder, no permission. Exit code 1."""


class InternalError(MlcError):
    """mlc is at fault: an exception that no user input should cause. Exit code 1."""


def _rebuild(
    kind: type[MlcError], message: str, node: str | None, op: str | None, stage: str | None, hint: str | None
) -> MlcError:
    return kind(message, node=node, op=op, stage=stage, hint=hint)
