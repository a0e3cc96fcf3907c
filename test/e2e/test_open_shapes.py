"""Shapes, offsets, paddings and axes computed at run time: against onnxruntime, at several values of one artifact."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from control import BOOL, FLOAT, INT64, agree, body, ints, model, node, scalar

import mlc
from mlc import target
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import RunError

RNG = np.random.default_rng(91)
X = RNG.standard_normal((4, 6)).astype(np.float32)


def test_sources() -> None:
    nodes = [
        node("Range", "a b c", "r"),
        node("Range", "f g h", "s"),
        node("ConstantOfShape", "shape", "zeros"),
        node("OneHot", "i depth values", "hot"),
    ]
    inputs = {"a": (INT64, []), "b": (INT64, []), "c": (INT64, []), "f": (FLOAT, []), "g": (FLOAT, [])}
    inputs |= {"h": (FLOAT, []), "shape": (INT64, [2]), "i": (INT64, [4]), "depth": (INT64, [])}
    outputs = {"r": (INT64, None), "s": (FLOAT, None), "zeros": (FLOAT, None), "hot": (FLOAT, None)}
    proto = model(nodes, inputs, outputs, {"values": np.float32([0.5, 2])})
    feeds = [
        (3, 11, 2, 0.5, 9, 1.25, (3, 5), 3),
        (9, -4, -3, 4, -1, -0.5, (0, 7), 1),
        (5, 5, 1, 7, 2, 1, (70, 33), 40),
        (0, 1000, 1, 0, 50, 0.5, (1, 1), 2),
    ]
    agree(proto, *(
        {"a": scalar(a), "b": scalar(b), "c": scalar(c), "f": scalar(f, np.float32), "g": scalar(g, np.float32),
         "h": scalar(h, np.float32), "shape": ints(*shape), "i": ints(1, 0, -1, 2), "depth": scalar(depth)}
        for a, b, c, f, g, h, shape, depth in feeds
    ))  # fmt: skip


def test_moves() -> None:
    nodes = [
        node("Relu", "x", "positive"),
        node("Reshape", "positive shape", "reshaped"),
        node("Expand", "row shape3", "expanded"),
        node("Tile", "x repeats", "tiled"),
        node("Split", "x sizes", "left right", axis=1),
        node("TopK", "x k", "most positions"),
        node("Trilu", "x shift", "triangle"),
        node("CumSum", "x axis", "sums"),
    ]
    inputs = {"x": (FLOAT, [4, 6]), "row": (FLOAT, [4, 1]), "shape": (INT64, [2]), "shape3": (INT64, [3])}
    inputs |= {"repeats": (INT64, [2]), "sizes": (INT64, [2]), "k": (INT64, [1]), "shift": (INT64, [])}
    inputs |= {"axis": (INT64, [])}
    kinds = {"positions": INT64}
    names = ("reshaped", "expanded", "tiled", "left", "right", "most", "positions", "triangle", "sums")
    proto = model(nodes, inputs, {n: (kinds.get(n, FLOAT), None) for n in names})
    feeds = [
        ((4, 6), (3, 4, 5), (1, 2), (2, 4), 1, 0, 0),
        ((-1, 3), (1, 1, 9), (3, 1), (0, 6), 6, -7, 1),
        ((0, -1), (2, 4, 1), (0, 2), (5, 1), 3, 2, -1),
        ((24, 1), (7, 1, 40), (9, 8), (3, 3), 2, 5, -2),
    ]
    agree(proto, *(
        {"x": X[:, RNG.permutation(6)], "row": X[:, :1].copy(), "shape": ints(*a), "shape3": ints(*b),
         "repeats": ints(*c), "sizes": ints(*d), "k": ints(k), "shift": scalar(s), "axis": scalar(axis)}
        for a, b, c, d, k, s, axis in feeds
    ))  # fmt: skip


def test_slices_and_pads() -> None:
    nodes = [
        node("Slice", "x starts ends one", "part"),
        node("Slice", "x starts ends one back", "backwards"),
        node("Slice", "x starts ends axis step", "any"),
        node("Pad", "x pads value", "padded"),
        node("Pad", "x edges", "reflected", mode="reflect"),
        node("Pad", "x edges", "stretched", mode="edge"),
    ]
    inputs = {"x": (FLOAT, [4, "n"]), "starts": (INT64, [1]), "ends": (INT64, [1]), "axis": (INT64, [1])}
    inputs |= {"step": (INT64, [1]), "pads": (INT64, [4]), "edges": (INT64, [4]), "value": (FLOAT, [])}
    names = ("part", "backwards", "any", "padded", "reflected", "stretched")
    weights = {"one": ints(1), "back": ints(-2)}
    proto = model(nodes, inputs, dict.fromkeys(names, (FLOAT, None)), weights, opset=18)
    feeds = [
        (6, 1, 4, 0, 2, (1, 0, 2, 3), (0, 2, 1, 1)),
        (7, -3, 100, 1, 1, (0, -2, 0, 0), (1, 0, 0, 4)),
        (5, 4, -100, -1, -1, (-1, 3, -2, 20), (0, 0, 0, 0)),
        (9, -100, 2, -2, 3, (0, 0, 0, 0), (2, 1, 2, 3)),
    ]
    agree(proto, *(
        {"x": RNG.standard_normal((4, n)).astype(np.float32), "starts": ints(a), "ends": ints(b), "axis": ints(axis),
         "step": ints(step), "pads": ints(*pads), "edges": ints(*edges), "value": scalar(n, np.float32)}
        for n, a, b, axis, step, pads, edges in feeds
    ))  # fmt: skip


def test_slices_of_nothing() -> None:
    nodes = [
        node("Split", "x sizes", "left right", axis=1),
        node("Slice", "left start end axis back", "y"),
        node("Slice", "left start end axis", "z"),
    ]
    inputs = {"x": (FLOAT, [4, 6]), "start": (INT64, [1]), "end": (INT64, [1])}
    weights = {"sizes": ints(0, 6), "axis": ints(1), "back": ints(-1)}
    proto = model(nodes, inputs, dict.fromkeys(("y", "z", "right"), (FLOAT, None)), weights, opset=18)
    agree(proto, *({"x": X, "start": ints(a), "end": ints(b)} for a, b in ((3, -2), (-1, 5))))


def test_pads_of_nothing() -> None:
    """Of the first n columns there may be none: what is around them is still there."""
    nodes = [
        node("Slice", "x none n one", "part"),
        node("Pad", "part pads value", "padded"),
        node("Pad", "part two value", "wide"),
        node("CenterCropPad", "part size", "centred", axes=[1]),
    ]
    inputs = {"x": (FLOAT, [4, 6]), "n": (INT64, [1]), "pads": (INT64, [4]), "size": (INT64, [1])}
    names = ("padded", "wide", "centred")
    weights = {"none": ints(0), "one": ints(1), "two": ints(1, 2, 0, 1), "value": scalar(3, np.float32)}
    proto = model(nodes, inputs, dict.fromkeys(names, (FLOAT, None)), weights, opset=18)
    feeds = [(0, (1, 0, 2, 3), 5), (3, (-1, 2, 0, -1), 2), (0, (0, 0, 0, 0), 3)]
    agree(proto, *({"x": X, "n": ints(n), "pads": ints(*pads), "size": ints(size)} for n, pads, size in feeds))


def test_axes() -> None:
    nodes = [
        node("ReduceMean", "x axes", "kept"),
        node("ReduceSum", "x axes", "dropped", keepdims=0),
        node("ReduceLogSumExp", "x axes", "soft"),
        node("Unsqueeze", "x axes", "thin"),
        node("Squeeze", "thin axes", "same"),
    ]
    inputs = {"x": (FLOAT, ["n", 4, 3]), "axes": (INT64, [2])}
    names = ("kept", "dropped", "soft", "thin", "same")
    proto = model(nodes, inputs, dict.fromkeys(names, (FLOAT, None)), opset=18)
    tall = RNG.standard_normal((5, 4, 3)).astype(np.float32)
    agree(proto, *({"x": tall[:n], "axes": ints(*a)} for n, a in ((5, (0, 1)), (2, (-1, 1)), (3, (2, 0)))))


def test_constants_under_shapes_and_along_axes_of_a_run() -> None:
    nodes = [
        node("Reshape", "x shape", "reshaped"),
        node("Unsqueeze", "x axis", "thin"),
        node("ReduceMax", "x axis", "most"),
        node("CumSum", "x one", "sums"),
    ]
    inputs = {"shape": (INT64, [2]), "axis": (INT64, [1]), "one": (INT64, [])}
    names = ("reshaped", "thin", "most", "sums")
    proto = model(nodes, inputs, dict.fromkeys(names, (FLOAT, None)), {"x": X}, opset=18)
    feeds = [((8, 3), 1, 0), ((-1, 4), -2, 1), ((0, -1), 0, -1)]
    agree(proto, *({"shape": ints(*a), "axis": ints(b), "one": scalar(c)} for a, b, c in feeds))


def test_a_place_that_follows_from_a_size() -> None:
    """The number of elements that are not 0, as a place in a table, of either sign."""
    nodes = [
        node("NonZero", "x", "found"),
        node("Size", "found", "count"),
        node("Mod", "count three", "place"),
        node("Gather", "table place", "shape"),
        node("Reshape", "x shape", "y"),
        node("Sub", "place three", "back"),
        node("Gather", "table back", "z"),
    ]
    weights = {"three": scalar(3), "table": np.array([[2, 3], [6, -1], [1, 6]])}
    proto = model(nodes, {"x": (FLOAT, [6])}, {"y": (FLOAT, None), "z": (INT64, [2])}, weights, opset=18)
    agree(proto, *({"x": np.float32(x)} for x in ([1, 0, 0, 2, 3, 0], [1, 2, 3, 4, 0, 0], [0, 0, 0, 0, 0, 5])))


def test_a_slice_after_the_last_element() -> None:
    proto = model([node("Slice", "x last end one", "y")], {"x": (FLOAT, [4, 6]), "end": (INT64, [1])},
                  {"y": (FLOAT, None)}, {"last": ints(6), "one": ints(1)}, opset=18)  # fmt: skip
    agree(proto, *({"x": X, "end": ints(n)} for n in (9, -2)))


@pytest.mark.parametrize("rows", [4, "n"])
@pytest.mark.parametrize(("start", "end"), [(-2, 3), (-3, 2), (-6, -1), (-6, 9), (1, 3), (-3, -1), (2, 9), (3, 1)])
def test_a_known_slice_beside_an_open_one(start: int, end: int, rows: int | str) -> None:
    nodes = [node("Concat", "one step", "steps", axis=0), node("Slice", "x starts ends axes steps", "y")]
    weights = {"one": ints(1), "starts": ints(start, -5), "ends": ints(end, 4), "axes": ints(0, 1)}
    proto = model(nodes, {"x": (FLOAT, [rows, 6]), "step": (INT64, [1])}, {"y": (FLOAT, None)}, weights, opset=18)
    agree(proto, *({"x": X, "step": ints(n)} for n in (1, 2, -1)))


@pytest.mark.parametrize(("factor", "offset"), [(5, 15), (5, 20), (600, 20), (7, 0), (1, 18), (-3, 27), (-20, -1)])
def test_a_table_up_to_a_multiple_of_a_size(factor: int, offset: int) -> None:
    """A table that is shorter than the end of a slice for all sizes but the smallest ones, as of a traced window."""
    nodes = [
        node("Shape", "x", "size"),
        node("Mul", "size factor", "scaled"),
        node("Add", "scaled offset", "end"),
        node("Slice", "table zero end zero", "part"),
        node("Sub", "part half", "moved"),
    ]
    table = {"table": np.arange(20, dtype=np.float32), "half": np.float32(0.5)}
    weights = {"factor": ints(factor), "offset": ints(offset), "zero": ints(0), **table}
    proto = model(nodes, {"x": (FLOAT, ["n"])}, {"part": (FLOAT, None), "moved": (FLOAT, None)}, weights, opset=18)
    session, compiled = onnxruntime.InferenceSession(proto.SerializeToString()), mlc.compile(proto)
    for n in (0, 1, 2, 3, 9):
        wanted = session.run(None, {"x": np.ones(n, np.float32)})
        try:
            found = compiled.run({"x": np.ones(n, np.float32)})
        except RunError as error:  # the size of a guard that is listed
            assert "does not hold" in str(error) or "needs" in str(error)
            continue
        for right, value in zip(wanted, found.values(), strict=True):
            np.testing.assert_array_equal(value, right)


def test_in_loops_and_branches() -> None:
    """Rows x[i:i+1] and x[start:start+1], the first i+1 rows, a range as long as the iteration, in a loop of open
    length."""
    iteration = [
        node("Reshape", "i unit", "from"),
        node("Add", "from unit", "to"),
        node("Slice", "x from to zero", "row1"),
        node("Squeeze", "row1 zero", "row"),
        node("Add", "start unit", "end"),
        node("Slice", "x start end zero", "other"),
        node("Squeeze", "other zero", "chosen"),
        node("Slice", "x zero to zero", "prefix"),
        node("ReduceMax", "prefix", "top", axes=[0], keepdims=0),
        node("Squeeze", "to", "count"),
        node("Range", "none count step", "range"),
        node("Cast", "range", "floats", to=FLOAT),
        node("ReduceSum", "floats", "total", keepdims=0),
        node("Sum", "s row chosen top total", "next"),
        node("Identity", "c", "d"),
        node("Neg", "next", "seen"),
    ]
    state = {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [6])}
    small = {"unit": ints(1), "zero": ints(0), "none": scalar(0), "step": scalar(1)}
    loop = body(iteration, state, {"d": (BOOL, []), "next": (FLOAT, [6]), "seen": (FLOAT, [6])}, small)
    cut = [node("Slice", "x start size zero", "a"), node("ReduceMax", "a", "m", axes=[0], keepdims=0)]
    wide = [node("Expand", "s0 shape", "b"), node("ReduceMax", "b", "m", axes=[0], keepdims=0)]
    sides = [body(n, {}, {"m": (FLOAT, [6])}, {"zero": ints(0)} if n is cut else {}) for n in (cut, wide)]
    nodes = [
        node("Loop", "trips _ s0", "last all", body=loop),
        node("If", "flag", "m", then_branch=sides[0], else_branch=sides[1]),
    ]
    inputs = {"x": (FLOAT, [40, 6]), "trips": (INT64, []), "s0": (FLOAT, [6]), "start": (INT64, [1])}
    inputs |= {"flag": (BOOL, []), "size": (INT64, [1]), "shape": (INT64, [2])}
    outputs = {"last": (FLOAT, [6]), "all": (FLOAT, None), "m": (FLOAT, [6])}
    proto = model(nodes, inputs, outputs, opset=13)
    rows, first = RNG.standard_normal((40, 6)).astype(np.float32), X[0]
    agree(proto, *(
        {"x": rows, "trips": scalar(t), "s0": first, "start": ints(s), "flag": scalar(f, bool), "size": ints(e),
         "shape": ints(e, 6)}
        for t, s, f, e in ((5, 3, True, 9), (40, -2, False, 30), (0, 0, True, 1))
    ))  # fmt: skip


REFUSED = {
    "reshape": ([node("Reshape", "x shape", "y")], (5, 5), r"Reshape at node 'Reshape.y': the shape does not|other"),
    "zeros": ([node("ConstantOfShape", "shape", "y")], (3, -2), r"ConstantOfShape at node .*element 1 .* below 0"),
    "expand": ([node("Expand", "x shape", "y")], (3, 6), r"Expand at node .*dimension 0 of the shape, beside 4, is"),
    "split": ([node("Split", "x shape", "y z", axis=1)], (3, 4), r"Split at node .* are not the 6 elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_refuses_what_is_no_shape(name: str) -> None:
    nodes, shape, message = REFUSED[name]
    inputs = {"x": (FLOAT, [4, 6]), "shape": (INT64, [2])}
    used = {n for each in nodes for n in each.input}
    proto = model(nodes, {n: i for n, i in inputs.items() if n in used}, {"y": (FLOAT, None)}, opset=13)
    net = mlc.compile(proto, threads=2)
    given = {n: a for n, a in (("x", X), ("shape", ints(*shape))) if n in used}
    with pytest.raises(RunError, match=message):
        net.run(given)
    right = given | {"shape": ints(2, 4) if name == "split" else ints(4, 6)}
    assert net.run(right)["y"].shape == ((4, 2) if name == "split" else (4, 6))


def test_what_is_measured_inside_a_loop_that_fails_ends_it() -> None:
    """The second iteration wants a row that is not there: the loop ends, and its error names the node."""
    iteration = [
        node("Reshape", "i unit", "from"),
        node("Mul", "from far", "place"),
        node("Add", "place unit", "to"),
        node("Slice", "x place to zero", "row1"),
        node("Squeeze", "row1 zero", "row"),
        node("Add", "s row", "next"),
        node("Identity", "c", "d"),
    ]
    state = {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [6])}
    loop = body(iteration, state, {"d": (BOOL, []), "next": (FLOAT, [6])}, {"unit": ints(1), "zero": ints(0)})
    inputs = {"x": (FLOAT, [4, 6]), "trips": (INT64, []), "far": (INT64, [1]), "s0": (FLOAT, [6])}
    proto = model([node("Loop", "trips _ s0", "y", body=loop)], inputs, {"y": (FLOAT, [6])}, opset=13)
    for threads in (1, 4):
        net = mlc.compile(proto, threads=threads)
        feed = {"x": X, "trips": scalar(1 << 40), "far": ints(50), "s0": X[0]}
        with pytest.raises(RunError, match="Slice at node '.*Slice.row1': the first of 1 elements"):
            net.run(feed)
        last = net.run(feed | {"trips": scalar(4), "far": ints(1)})["y"]
        np.testing.assert_allclose(last, X[0] + X.sum(0), rtol=1e-5)


def test_a_repeated_run_draws_what_one_run_draws() -> None:
    """A run that needs more room is repeated, and counts once."""
    nodes = [node("ConstantOfShape", "shape", "zeros"), node("RandomNormalLike", "zeros", "y")]
    proto = model(nodes, {"shape": (INT64, [1])}, {"y": (FLOAT, None)})
    small, large = mlc.compile(proto), mlc.compile(proto)
    large.run({"shape": ints(1000)})
    large.seed(0)
    for net in (small, large):
        assert net.run({"shape": ints(300)})["y"].shape == (300,)
    first, second = (net.run({"shape": ints(400)})["y"] for net in (small, large))
    np.testing.assert_array_equal(first, second)


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "open.h"
int main(void) {
  int64_t room = 4, shape[1], size = -1, from = 3, to = 30, by = 2;
  open_model *model = open_create(NULL, 2);
  const void *inputs[] = {&from, &to, &by};
  int64_t *y = malloc(4 * sizeof *y);
  void *outputs[] = {y, &size};
  if (!model || open_run(model, inputs, outputs, &room, NULL) != 2 || size != 14) return 1;
  room = size;
  if (open_output_shape(0, &room, shape) != 1 || shape[0] != 14) return 2;
  outputs[0] = realloc(y, shape[0] * sizeof *y);
  if (open_run(model, inputs, outputs, &room, NULL)) return 3;
  printf("%d to %d", (int)((int64_t *)outputs[0])[0], (int)((int64_t *)outputs[0])[13]);
  open_destroy(model);
  free(outputs[0]);
  return 0;
}
"""


def test_the_room_for_a_size_is_the_callers_in_c(tmp_path: Path) -> None:
    inputs = {name: (INT64, []) for name in "abc"}
    net = mlc.compile(model([node("Range", "a b c", "y")], inputs, {"y": (INT64, None)}))
    assert net.dims == () and net.signature["dims"] == ["room0"]
    assert net.signature["sizes"] == [{"name": "size0", "output": 1, "bound": "room0", "grows": True}]
    net.save(tmp_path / "open.so")
    prefix = (tmp_path / "open.h").read_text().split("_abi_version")[0].split()[-1]
    (tmp_path / "main.c").write_text(MAIN.replace("open_", f"{prefix}_"))
    compiler = find(None, target.get("cpu")).command
    subprocess.run([*compiler, "main.c", "./open.so", "-Wl,-rpath,$ORIGIN", "-o", "main"], cwd=tmp_path, check=True)
    result = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "3 to 29"


@pytest.mark.parametrize("wanted", [(2, 3, 4), (4,), (3, 1, 4), (0,)])
def test_an_open_dimension_expands_to_a_known_size(wanted: tuple[int, ...]) -> None:
    """Its extent is 1 or that size; any other is refused, as onnxruntime refuses it."""
    expand, x = node("Expand", "x shape", "y"), (FLOAT, [1, 1, "k"])
    proto = model([expand], {"x": x}, {"y": (FLOAT, None)}, {"shape": ints(*wanted)})
    agree(proto, *({"x": X[:1, None, :k]} for k in {1, wanted[-1]}))
    with mlc.compile(proto, "cpu", 1) as net, pytest.raises(RunError, match="accepts only"):
        net.run({"x": X[:1, None, :3]})
