"""Symbol renaming: each hidden symbol of a model gets the model's prefix, so that static models link into one program.

Hidden symbols are invisible outside of a shared library; in an object or an archive they are global like all others.
The preprocessor renames them, which every C compiler can do: ``#define mlc_run mlc_run_of_net``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mlc.driver.toolchain.c_sources import CSource

NAMES = "mlc_names.h"
INCLUDE = ("-include", NAMES)
DEFINED = re.compile(r"^(?!static|typedef)\w[^(;={}#\n]*?\b((?:mlc|k)_\w+)\(", re.M)


def with_hidden_names(sources: Mapping[str, CSource], prefix: str, data: Sequence[str]) -> dict[str, CSource]:
    """``sources`` and the header that renames the functions defined in them, and the arrays ``data``; every unit is
    compiled with ``INCLUDE``."""
    units = (text for name, text in sources.items() if name.endswith(".c") and isinstance(text, str))
    names = {*data, *(name for text in units for name in DEFINED.findall(text))}
    lines = [f"#define {name} {name}_of_{prefix}" for name in sorted(names)]
    about = f"/* The symbols of model '{prefix}' that only itself uses: no other model in a program has them. */"
    return {**sources, NAMES: "\n".join([about, *lines, ""])}
