"""All routines, by family and name: ``text.concat`` is ``mlc_text_concat`` in C.

A routine is what no statement says. It is ``graph.routine`` in the graph, a step of the host program that one thread
runs, and a function of the runtime in C, which only models that use it contain.
"""

from mlc.dialects.image_routines import IMAGE_ROUTINES
from mlc.dialects.routine import Given, Routine
from mlc.dialects.text_routines import TEXT_ROUTINES

__all__ = ["ROUTINES", "Given", "Routine"]

_FAMILIES = {"text": TEXT_ROUTINES, "image": IMAGE_ROUTINES}

ROUTINES = {f"{family}.{name}": routine for family, known in _FAMILIES.items() for name, routine in known.items()}
