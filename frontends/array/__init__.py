"""The array frontend: traces Python functions on arrays, and imports a trace as a graph module."""

from __future__ import annotations

import mlc.frontends.array.namespace  # noqa: F401 - the functions that operators of arrays are
