"""Models on a mesh: ``mlc.compile(model, mesh=…, shardings=…)`` and ``mlc compile --mesh``.

    source = divided.of("model.onnx", mlc.Mesh(model=2), {"up": mlc.P(None, "model")})
    print(source.plan(options));  source.simulate({"x": x})
"""

from mlc.divided.source import DividedSource, of

__all__ = ["DividedSource", "of"]
