"""Damages valid models: their bytes, or any field of the message, chosen by reflection.

Fields get values that programs trip over: extreme integers, NaN, names of other values (which makes cycles, duplicates
and inputs of other types), parts of the model in other locations, data of the wrong length, paths that lead elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from onnx import ModelProto, TensorProto

LARGE = [255, 1023, 1 << 20, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63)]
WHOLE = [0, 1, -1, 2, 3, 4, 7, 8, 13, 16, 64, 127, *LARGE]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, float("inf"), float("-inf"), float("nan")]
TEXT = [
    "", "x", "y", "\u00e9", "a b", "batch", "ai.onnx.ml", "com.microsoft", "../secret", "/etc/hostname", "w.bin", "\0",
    "NOTSET", "SAME_UPPER", "bilinear", "cubic", "reflect", "mul", "max", "n*n", "1//0", "-x",
]  # fmt: skip
LENGTHS = [0, 1, 3, 5, 17]
Place = tuple[Any, Any]  # a message and one of its fields


def mutant(models: list[bytes], seed: int) -> bytes:
    """A damaged model of ``models``; the same for the same seed."""
    random = Random(seed)
    data = random.choice(models)
    if random.random() < 0.25:
        return damaged(random, data, random.choice(models))
    model = ModelProto.FromString(data)
    for _ in range(random.choice([1, 1, 1, 2, 3, 5])):
        random.choices([_field, _external, _order], [12, 1, 1])[0](random, model)
    return model.SerializeToString()


# -- bytes


def damaged(random: Random, data: bytes, other: bytes) -> bytes:
    """Bytes changed, cut, repeated, or mixed with those of another."""
    for _ in range(random.choice([1, 1, 2, 4])):
        data = random.choice([_flip, _truncate, _cut, _repeat, lambda r, d: _splice(r, d, other)])(random, data)
    return data


def _flip(random: Random, data: bytes) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[random.randrange(len(data))] = random.choice([random.randrange(256), 0, 0x7F, 0x80, 0xFF])
    return bytes(changed)


def _span(random: Random, data: bytes) -> slice:
    start = random.randrange(len(data) + 1)
    return slice(start, start + random.choice([1, 2, 8, 64, random.randrange(len(data) + 1)]))


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _cut(random: Random, data: bytes) -> bytes:
    span = _span(random, data)
    return data[: span.start] + data[span.stop :]


def _repeat(random: Random, data: bytes) -> bytes:
    span = _span(random, data)
    return data[: span.stop] + data[span.start :]


def _splice(random: Random, data: bytes, other: bytes) -> bytes:
    return data[: _span(random, data).start] + other[_span(random, other)] + data[_span(random, data).start :]


# -- fields


def _field(random: Random, model: ModelProto) -> None:
    """Change one field, of any message of the model."""
    locations = list(_locations(model, random))
    message, field = random.choice(locations)
    if field.is_repeated:
        _repeated(random, getattr(message, field.name), field, locations)
    elif field.type != Field.TYPE_MESSAGE:
        _scalar(random, message, field, locations)
    elif random.random() < 0.5:
        message.ClearField(field.name)
    else:
        _copy(random, getattr(message, field.name), locations)


def _locations(message: Any, random: Random) -> Iterator[Place]:
    """All fields that are set, and one of each message that is not."""
    for field, value in message.ListFields():
        yield message, field
        if field.type == Field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                yield from _locations(inner, random)
    unset = [f for f in message.DESCRIPTOR.fields if not (f.is_repeated or message.HasField(f.name))]
    if unset:
        yield message, random.choice(unset)


def _scalar(random: Random, message: Any, field: Any, locations: list[Place]) -> None:
    if field.has_presence and random.random() < 0.15:
        message.ClearField(field.name)
        return
    for _ in range(9):
        try:
            setattr(message, field.name, _value(random, field, getattr(message, field.name), locations))
            return
        except (ValueError, TypeError):  # the field is too narrow for this value
            continue


def _repeated(random: Random, values: Any, field: Any, locations: list[Place]) -> None:
    """Drop, double, swap or change an element."""
    at = random.randrange(len(values)) if len(values) else 0
    kind = random.choice(["drop", "double", "swap", "change", "change"])
    if not len(values) or kind == "change":
        _changed(random, values, at, field, locations)
    elif kind == "drop":
        del values[at : at + random.choice([1, len(values)])]
    elif kind == "double":
        values.extend(list(values[at : at + 1]))
    else:
        kept = list(values)
        random.shuffle(kept)
        copies = [type(v).FromString(v.SerializeToString()) for v in kept] if field.message_type else kept
        del values[:]
        values.extend(copies)


def _changed(random: Random, values: Any, at: int, field: Any, locations: list[Place]) -> None:
    if field.message_type:
        _copy(random, values[at] if len(values) else values.add(), locations)
        return
    for _ in range(9):
        try:
            new = _value(random, field, values[at] if len(values) else None, locations)
            values[at : at + 1] = [new]
            return
        except (ValueError, TypeError):
            continue


def _copy(random: Random, message: Any, locations: list[Place]) -> None:
    """Another message of the same type in place of this one."""
    found = [getattr(m, f.name) for m, f in locations if f.message_type is message.DESCRIPTOR]
    flat = [v for value in found for v in ([value] if hasattr(value, "CopyFrom") else value)]
    if flat:
        chosen = random.choice(flat).SerializeToString()
        message.ParseFromString(chosen)


def _value(random: Random, field: Any, old: Any, locations: list[Place]) -> Any:
    if field.type == Field.TYPE_STRING:
        return _text(random, locations)
    if field.type == Field.TYPE_BYTES:
        return _data(random, old or b"")
    if field.type in (Field.TYPE_FLOAT, Field.TYPE_DOUBLE):
        return random.choice(REAL)
    if field.type == Field.TYPE_ENUM:
        return random.choice(field.enum_type.values).number
    near = (old or 0) + random.choice([-1, 1, 2])
    return random.choice([random.choice(WHOLE), near, random.randrange(32), -(old or 0)])


def _text(random: Random, locations: list[Place]) -> str:
    message, field = random.choice([(m, f) for m, f in locations if f.type == Field.TYPE_STRING])
    found = getattr(message, field.name)
    strings = list(found) if field.is_repeated else [found]
    return random.choice([*strings, *strings, *strings, random.choice(TEXT)])


def _data(random: Random, old: bytes) -> bytes:
    changes: list[Callable[[], bytes]] = [
        lambda: old[: random.randrange(len(old) + 1)],
        lambda: old + random.randbytes(random.choice(LENGTHS)),
        lambda: random.randbytes(len(old)),
        lambda: random.choice(TEXT).encode(),
    ]
    return random.choice(changes)()


def _external(random: Random, model: ModelProto) -> None:
    """A tensor's data moves into a file, which may be another's."""
    attributes = [a.t for n in model.graph.node for a in n.attribute if a.HasField("t")]
    tensors = [*model.graph.initializer, *attributes]
    if not tensors:
        return
    tensor = random.choice(tensors)
    if random.random() < 0.5:
        tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    tensor.external_data.add(key="location", value=random.choice(["w.bin", "w.bin", "link.bin", *TEXT]))
    for key in ("offset", "length", "checksum", "mlc.offset"):
        if random.random() < 0.4:
            value = random.choice([str(random.choice(WHOLE)), str(random.randrange(64)), "a"])
            tensor.external_data.add(key=key, value=value)


def _order(random: Random, model: ModelProto) -> None:
    """An input of a node becomes another value: one that comes later, a constant, none, or the node's own."""
    names = [n for node in model.graph.node for n in (*node.input, *node.output)] + [""]
    if model.graph.node:
        node = random.choice(model.graph.node)
        values = random.choice([node.input, node.input, node.output])
        at = random.randrange(len(values) + 1)
        values[at : at + random.choice([0, 1])] = [random.choice(names)]
