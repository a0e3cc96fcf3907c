"""Pages of the public modules, made of their docstrings: one a module, with each function and class.

python docs/api_pages.py    # prints {page: text} as JSON; docs/site_hooks.py adds the pages to the site

It imports mlc, since many public names are made by calls (``publish``).
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

MODULES = (
    "mlc", "mlc.numpy", "mlc.numpy.linalg", "mlc.numpy.fft", "mlc.numpy.random", "mlc.nn", "mlc.nn.init", "mlc.optim",
    "mlc.train", "mlc.scipy.integrate", "mlc.scipy.interpolate", "mlc.scipy.linalg", "mlc.scipy.ndimage",
    "mlc.scipy.optimize", "mlc.scipy.signal", "mlc.scipy.sparse",
    "mlc.scipy.sparse.linalg", "mlc.scipy.special", "mlc.scipy.stats", "mlc.distributions", "mlc.attribution",
    "mlc.robust", "mlc.privacy", "mlc.comm", "mlc.graph", "mlc.onnxruntime", "mlc.target", "mlc.runtime",
)  # fmt: skip
SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):$")
ITEM = re.compile(r"^ {4}(\S[^:]*): (.*)$")


def pages() -> dict[str, str]:
    """The text of each page by its path under the folder of documents."""
    return {f"docs/reference/api/{name}.md": page(importlib.import_module(name)) for name in MODULES}


def page(module: ModuleType) -> str:
    """The docstring of a module, then of its classes and functions by name."""
    parts = [f"# {module.__name__}", markdown(module.__doc__ or "")]
    for name, value in public(module):
        of = of_class if inspect.isclass(value) else of_function if callable(value) else of_object
        parts += [f"## {name}", *of(name, value)]
    return "\n\n".join(part for part in parts if part) + "\n"


def public(module: ModuleType) -> list[tuple[str, Any]]:
    """The functions, classes and objects that a module offers, which mlc defines."""
    names = getattr(module, "__all__", None) or dir(module)
    found = {n: getattr(module, n) for n in sorted(set(names), key=str.lower) if not n.startswith("_")}
    return [(n, value) for n, value in found.items() if ours(value if callable(value) else type(value))]


def ours(value: Any) -> bool:
    """Whether mlc defines a function or class, and not a library that it imports."""
    return str(getattr(value, "__module__", "")).partition(".")[0] == "mlc"


def of_function(name: str, value: Callable[..., Any]) -> list[str]:
    return [f"```python\n{name}{signature(value)}\n```", markdown(inspect.getdoc(value) or "")]


def of_class(name: str, value: type) -> list[str]:
    """The class, then its methods and properties."""
    parts = [f"```python\nclass {name}{signature(value)}\n```", markdown(own_doc(value))]
    made = getattr(value.__init__, "__doc__", None)
    if "__init__" in vars(value) and made and made != object.__init__.__doc__:
        parts.append(markdown(inspect.cleandoc(made)))
    return parts + members(name, value)


def of_object(name: str, value: Any) -> list[str]:
    return [markdown(own_doc(type(value))), *members(name, type(value))]


def members(name: str, value: type) -> list[str]:
    """The methods and properties that a class defines itself."""
    parts = []
    for each, member in sorted(vars(value).items()):
        doc = inspect.getdoc(getattr(value, each)) if not each.startswith("_") and documented(member) else None
        if doc:
            shown = "" if isinstance(member, property) or not callable(getattr(value, each)) else signature(member)
            parts += [f"### {name}.{each}", f"```python\n{each}{shown}\n```", markdown(doc)]
    return parts


def own_doc(value: type) -> str:
    """The docstring of a class, but not the signature that a dataclass gets in its place."""
    doc = vars(value).get("__doc__") or ""
    return "" if doc.startswith(f"{value.__name__}(") else inspect.cleandoc(doc)


def documented(member: Any) -> bool:
    return isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)


def signature(value: Any) -> str:
    """The parameters of a function, without annotations; nothing where Python knows none."""
    try:
        found = inspect.signature(getattr(value, "__func__", value))
    except (TypeError, ValueError):
        return "(…)"
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    text = str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r"<([\w.]+)[^<>]*>", r"\1", text)  # no addresses of objects


def markdown(doc: str) -> str:
    """A docstring as Markdown: sections are lists, indented examples code."""
    return "\n".join(_lines(inspect.cleandoc(doc))).strip()


def _lines(doc: str) -> Iterator[str]:
    section = ""
    for line in doc.splitlines():
        if SECTION.match(line):
            section = line.rstrip(":")
            yield f"\n**{section}**\n"
        elif section and line.startswith("    "):
            item = ITEM.match(line)
            yield f"- `{item[1]}`: {escaped(item[2])}" if item else f"  {escaped(line.strip())}"
        else:
            section = ""
            yield line if line.startswith("    ") else escaped(line)


def escaped(line: str) -> str:
    """A line whose asterisks, brackets and angles outside of code mean themselves."""
    parts = re.split(r"(``[^`]*``|`[^`]*`)", line)
    plain = [re.sub(r"([*<\[\]])", r"\\\1", part) if n % 2 == 0 else part for n, part in enumerate(parts)]
    return "".join(plain)


if __name__ == "__main__":
    json.dump(pages(), sys.stdout)
