"""All routines, by family and name: ``string.concat`` is ``mlc_string_concat`` in C.

A routine is an operator on strings or images, which statements cannot express. It is ``graph.routine`` at the graph
level, a step of the host program that one thread executes, and a runtime function in C, linked only where it is used.
"""

from mlc.dialects.semantics.image_routines import IMAGE_ROUTINES
from mlc.dialects.semantics.routine import Given, Routine
from mlc.dialects.semantics.string_routines import STRING_ROUTINES

__all__ = ["ROUTINES", "Given", "Routine"]

_FAMILIES = {"string": STRING_ROUTINES, "image": IMAGE_ROUTINES}

ROUTINES = {f"{family}.{name}": routine for family, known in _FAMILIES.items() for name, routine in known.items()}
