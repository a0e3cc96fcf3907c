"""The forms of a compiled model: the suffix of the output says which one is written."""

from __future__ import annotations

from pathlib import Path

from mlc.errors import InputError

FORMS = {
    ".so": "a shared library",
    ".a": "an archive to link statically",
    ".o": "one object to link statically",
    ".c": "a folder of C sources that compiles by itself",
}
STDOUT = Path("-")


def destination(output: Path | None, name: str) -> Path:
    """What to write for the model ``name``: ``output``, or a shared library in that folder or in this one.

    InputError where the suffix is none of a form's.
    """
    if output is None:
        return Path(f"{name}.so")
    if output == STDOUT or output.suffix in FORMS:
        return output
    if output.is_dir():
        return output / f"{name}.so"
    forms = ", ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
    message = f"'-o {output}' does not say what to write: it is no folder, and its suffix is none that mlc knows"
    raise InputError(message, hint=f"Give an existing folder, - for standard output, or a name that ends in {forms}")


def refuse_without_effect(out: Path, given: dict[str, bool]) -> None:
    """InputError where an option is given that changes nothing in C sources."""
    for option, value in given.items():
        if value and (out == STDOUT or out.suffix == ".c"):
            raise InputError(f"{option} has no effect on C sources", hint="Leave it out, or write a library")
