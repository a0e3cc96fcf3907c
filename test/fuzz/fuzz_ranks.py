"""Imports single operators whose inputs have random ranks, types and gaps: `python test/fuzz/fuzz_ranks.py --count 60`.

Nothing but an error of mlc may come of them, and its words are about the model: no message of Python's ("tuple index
out of range") reaches a user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any

import numpy as np
import typer
from onnx import ModelProto, ValueInfoProto, defs, helper, numpy_helper

import mlc
from mlc.frontends.onnx import import_model
from mlc.frontends.onnx.node import REGISTRY
from mlc.frontends.onnx.ops import load_all

PYTHON = re.compile(
    r"index out of range|unpack|NoneType|has no attribute|not subscriptable|unsupported operand|zip\(\)|"
    r"not supported between|invalid literal|positional argument|not in (list|tuple)|int\(\) argument|"
    r"(division|modulo) by zero|cannot be interpreted|object is not|could not be broadcast|axes don't match|"
    r"empty sequence\b|iterable argument|out of bounds for axis|n: '[^']*' "
)
OPSETS = {"": (28, 22, 17, 11), "ai.onnx.ml": (5, 3), "com.microsoft": (1,), "ai.onnx.preview.training": (1,)}
KINDS = ("f4", "f4", "f4", "i8", "i8", "i4", "u1", "?", "f2")
VALUES: dict[str, Any] = {
    "INT": lambda random: random.choice([0, 1, 2, -1, 3, 7]),
    "INTS": lambda random: [random.choice([0, 1, 2, 3]) for _ in range(random.randint(1, 4))],
    "FLOAT": lambda random: random.choice([0.0, 1.0, 0.5]),
    "FLOATS": lambda random: [0.5] * random.randint(1, 3),
    "STRING": lambda random: random.choice(["constant", "linear", "ij,jk->ik", "x"]),
    "STRINGS": lambda random: ["a", "b"][: random.randint(1, 2)],
    "TENSOR": lambda random: numpy_helper.from_array(np.ones(random.randint(0, 2), "f4")),
}


def operators() -> list[tuple[str, str]]:
    """(domain, name) of all that the importer knows."""
    load_all()
    return sorted(key for key in REGISTRY if key[0] in OPSETS)


def model(domain: str, op: str, seed: int) -> ModelProto:
    """A model of one node, as likely as not one that no runtime takes."""
    random = Random(f"{domain} {op} {seed}")
    opset = random.choice(OPSETS[domain])
    schema = defs.get_schema(op, opset, domain) if defs.has(op, opset, domain) else None
    fewest, most = (0, 9) if schema is None else (schema.min_input, min(schema.max_input, 6))
    names, infos, constants = [], [], []
    for n in range(random.randint(max(0, fewest - (random.random() < 0.2)), max(most, fewest))):
        names.append(f"x{n}" if random.random() < 0.9 else "")
        array, name = _array(random), names[-1]
        if name and random.random() < 0.4:
            constants.append(numpy_helper.from_array(array, name))
        elif name:
            shape = [f"d{d}" if random.random() < 0.1 else d for d in array.shape]
            infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
    results = ["y0", "y1"][: random.randint(1, 2)]
    node = helper.make_node(op, names, results, domain=domain, name="n", **_attributes(schema, random))
    graph = helper.make_graph([node], "ranks", infos, [ValueInfoProto(name="y0")], constants)
    opsets = {"": 22, domain: opset}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets.items()], ir_version=11)


def _array(random: Random) -> np.ndarray[Any, Any]:
    shape = [random.choice([1, 2, 3, 4, 0, 2]) for _ in range(random.randint(0, 5))]
    return np.asarray(np.random.default_rng(random.randint(0, 99)).integers(0, 4, shape)).astype(random.choice(KINDS))


def _attributes(schema: defs.OpSchema | None, random: Random) -> dict[str, Any]:
    given = {} if schema is None else schema.attributes
    kinds = {name: str(a.type).rpartition(".")[2] for name, a in given.items() if a.required or random.random() < 0.4}
    return {name: VALUES[kind](random) for name, kind in kinds.items() if kind in VALUES}


def problem(domain: str, op: str, seed: int) -> str:
    """What a user should not see of the model; empty where it is fine."""
    try:
        import_model(model(domain, op, seed))
    except mlc.MlcError as error:
        text = " ".join(str(error).split())
        return f"{domain}:{op} {seed}: {text[:300]}" if PYTHON.search(text) else ""
    except Exception as error:
        return f"{domain}:{op} {seed}: {type(error).__name__}: {error}"
    return ""


def problems(count: int, seed: int) -> Iterator[str]:
    for domain, op in operators():
        yield from filter(None, (problem(domain, op, seed + n) for n in range(count)))


def main(
    count: Annotated[int, typer.Option(help="Models of each operator.")] = 20,
    seed: Annotated[int, typer.Option(help="The first one.")] = 0,
) -> None:
    """Import models of one operator each; exit code 1 where a message is Python's."""
    found: Counter[str] = Counter()
    for line in problems(count, seed):
        print(line, flush=True)
        found["problems"] += 1
    print(f"{count * len(operators())} models, {found['problems']} problems")
    raise typer.Exit(bool(found))


if __name__ == "__main__":
    typer.run(main)
