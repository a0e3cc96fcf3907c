"""File types by the package magika: a text, bytes of a PNG, and noise."""

import json

import numpy as np
from magika import Magika

random = np.random.default_rng(7)
contents = {
    "python": b"import os\n\n\ndef f(x: int) -> int:\n    return x + 1\n\n\nprint(f(2), os.getcwd())\n" * 4,
    "html": b"<!DOCTYPE html><html><head><title>t</title></head><body><p>some text</p></body></html>",
    "noise": random.integers(0, 256, 3000, np.uint8).tobytes(),
    "csv": b"a,b,c\n1,2,3\n4,5,6\n" * 30,
}
found = {name: Magika().identify_bytes(data) for name, data in contents.items()}
print(json.dumps({name: [result.output.label, float(result.score)] for name, result in found.items()}))
