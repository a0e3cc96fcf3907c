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
SHADOWING = "mlc.so"
FOREIGN = (".dll", ".dylib", ".exe")


def destination(output: Path | None, name: str) -> Path:
    """The path to write for the model ``name``: ``output``, or a shared library in that folder or in the current one.

    InputError where the suffix is none of a form's, or Python would import the library in place of mlc.
    """
    found = Path(f"{name}.so") if output is None else output
    if output is not None and output.suffix not in FORMS and output.is_dir():
        found = output / f"{name}.so"
    if found.name == SHADOWING:
        message = f"A library '{found}' would be imported by 'import mlc' in its folder, in place of the package"
        raise InputError(message, hint="Give it another name: -o model.so")
    if found == STDOUT or found.suffix in FORMS:
        return found
    forms = ", ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
    hint = f"Give an existing folder, - for standard output, or a name that ends in {forms}"
    if found.suffix in FOREIGN:
        raise InputError(f"'-o {output}' names a file of another system; mlc writes libraries of Linux", hint=hint)
    raise InputError(f"'-o {output}' is not a folder, and its suffix does not say what to write", hint=hint)


def is_c(out: Path) -> bool:
    return out == STDOUT or out.suffix == ".c"


def refuse_without_effect(out: Path, given: dict[str, bool]) -> None:
    """Raise InputError for an option that changes nothing in C sources."""
    for option, value in given.items():
        if value and is_c(out):
            raise InputError(f"{option} has no effect on C sources", hint="Leave it out, or write a library")
