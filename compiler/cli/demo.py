"""mlc demo: a real network, compiled, checked against a reference and timed."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.cli.common import Threads
from mlc.tools.tables import console, table

if TYPE_CHECKING:
    import numpy as np
    from onnx import GraphProto, ModelProto, TensorProto

BOUND = 1e-5  # of the largest value: the project's bound on every model
PARAMETERS = ("_w_0", "_b_0", "_s_0", "_rm_0", "_riv_0")


def command(threads: Threads = 0) -> None:
    """Compile ResNet-50, run it on a random image, and compare with a reference.

    The network is the onnx package's own. Its "light" models carry constants in place of trained weights; the demo
    puts seeded random ones there, so that every output differs and the comparison means something.
    """
    import numpy as np

    from mlc.api import make_options, open_built
    from mlc.driver.compile import compile_source
    from mlc.driver.onnx_source import OnnxSource
    from mlc.tools.instruments import Timer
    from mlc.tools.latency import latencies, summary
    from mlc.tools.progress import Progress

    model = resnet50()
    data = model.SerializeToString()
    timer = Timer()
    start = time.perf_counter()
    with Progress() as progress:
        built = compile_source(
            OnnxSource.named("resnet50", data),
            make_options(threads=threads),
            [timer, progress],
            reuse=False,
        )
    _print_stages(timer.stages(), time.perf_counter() - start)
    net = open_built(built, threads or None)
    image = np.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(np.float32)
    name, reference = _reference(data, image)
    inputs = {next(iter(net.inputs)): image}
    (scores,) = net.run(inputs).values()
    _print_comparison(scores.ravel(), reference.ravel(), name)
    print(f"latency: {summary(latencies(net.run, inputs, 2.0))}")


def resnet50() -> ModelProto:
    """The onnx package's ResNet-50 with its parameters replaced by seeded random ones."""
    import numpy as np
    import onnx

    model = onnx.load(Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx")
    graph = model.graph
    random = np.random.default_rng(0)
    sizes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in graph.input}
    sizes |= {n.output[0]: list(_constant(graph, n.input[0])) for n in graph.node if n.op_type == "ConstantOfShape"}
    used = {name: sizes[name] for node in graph.node for name in node.input if name.endswith(PARAMETERS)}
    shape = next(tensor for tensor in graph.initializer if tensor.name == graph.node[-3].input[1])  # of the Reshape
    kept = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    del graph.node[:], graph.initializer[:], graph.input[1:]  # inputs but the image only name parameters
    graph.node.extend(kept)
    graph.initializer.extend([shape, *(_parameter(name, size, random) for name, size in used.items())])
    model.ir_version = 4  # the first in which parameters need not be inputs
    return model


def _constant(graph: GraphProto, name: str) -> np.ndarray[Any, Any]:
    """The value of an initializer."""
    import onnx

    return onnx.numpy_helper.to_array(next(tensor for tensor in graph.initializer if tensor.name == name))


def _parameter(name: str, shape: list[int], random: np.random.Generator) -> TensorProto:
    """He-scaled weights; normalizations close to the identity, except that the last of each residual branch shrinks
    it."""
    import numpy as np
    import onnx

    values = random.standard_normal(shape)
    if len(shape) > 1:
        values *= np.sqrt(2.0 / np.prod(shape[1:]))
    elif name.endswith(("_s_0", "_riv_0")):
        values = (0.3 if "2c_bn_s" in name else 1.0) * (1.0 + 0.1 * np.abs(values))
    else:
        values *= 0.1
    return onnx.numpy_helper.from_array(values.astype(np.float32), name)


def _reference(model: bytes, image: np.ndarray[Any, Any]) -> tuple[str, np.ndarray[Any, Any]]:
    """The name of a reference and its output: onnxruntime if installed, else the onnx package's evaluator."""
    if find_spec("onnxruntime"):
        import onnxruntime

        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return "onnxruntime", session.run(None, {session.get_inputs()[0].name: image})[0]
    import onnx
    from onnx.reference import ReferenceEvaluator

    # Its BatchNormalization of opset 9 takes the batch's own statistics; that of 15 is the inference it should be.
    evaluator = ReferenceEvaluator(onnx.version_converter.convert_version(onnx.load_from_string(model), 15))
    outputs: Any = evaluator.run(None, {evaluator.input_names[0]: image})
    return "onnx.reference", outputs[0]


def _print_stages(stages: dict[str, float], total: float) -> None:
    rows = table("ResNet-50, compiled", "stage", ">seconds")
    for stage, seconds in stages.items():
        rows.add_row(stage, f"{seconds:.2f}")
    rows.add_row("total", f"{total:.2f}")
    console().print(rows)


def _print_comparison(ours: np.ndarray[Any, Any], reference: np.ndarray[Any, Any], name: str) -> None:
    """The five likeliest classes of both; MlcError if the outputs differ by more than the documented bound."""
    import numpy as np

    from mlc.errors import MlcError

    rows = table("Top 5: class, probability", ">rank", ">mlc", f">{name}")
    tops = [np.argsort(-scores)[:5] for scores in (ours, reference)]
    for rank, (mine, theirs) in enumerate(zip(*tops, strict=True)):
        rows.add_row(str(rank + 1), f"{mine:4d}  {ours[mine]:.6f}", f"{theirs:4d}  {reference[theirs]:.6f}")
    console().print(rows)
    error = float(np.max(np.abs(ours - reference)) / np.max(np.abs(reference)))
    print(f"largest error: {error:.1e} of the largest probability (bound {BOUND:.0e})")
    if not error <= BOUND:
        raise MlcError(f"The result differs from {name}'s by {error:.1e}", stage="run", hint="Please report this")
