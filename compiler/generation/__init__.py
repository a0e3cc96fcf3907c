"""Generating text with decoders in ONNX.

for token in mlc.generate("model.onnx", [1, 15043], 32, temperature=0.8, top_p=0.95, seed=0):
    print(token)
"""

from mlc.generation.generate import generate
from mlc.generation.sampling import Sampling
from mlc.generation.session import Session, Timing

__all__ = ["Sampling", "Session", "Timing", "generate"]
