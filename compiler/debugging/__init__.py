"""Where a wrong number comes from: a compiled model held to a reference, and each step between them by itself.

    found = mlc.compare("model.onnx", {"x": x})
    print(found)

The steps: a node of the model as the importer reads it, a pass on the graph, a kernel as it is compiled. Each is given
right operands, so that only the step that is wrong differs, and what it passes on does not.
"""

from __future__ import annotations
