"""Tree ensembles beside onnxruntime, in turn: `python -m benchmarks.trees`.

Where lightgbm is installed, a model that it trains as well, and beside it lleaves and tl2cgen (treelite).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import onnx
import onnxruntime
import typer
from onnx import helper

import mlc
from mlc.tools.tables import show_rows

FEATURES = 30
SHAPES = {  # trees, leaves of each, targets
    "boosted_50x31": (50, 31, 1),
    "boosted_500x31": (500, 31, 1),
    "boosted_100x64": (100, 64, 1),
    "boosted_200x255": (200, 255, 1),
    "forest_100x1000": (100, 1000, 5),
    "stumps_1000x2": (1000, 2, 1),
}
Run = Callable[[np.ndarray], Any]


def ensemble(trees: int, leaves: int, targets: int, rng: np.random.Generator) -> onnx.ModelProto:
    """Random trees, grown where a random leaf is split, at thresholds that normal features pass half of the time."""
    columns: dict[str, list[Any]] = {f"nodes_{n}": [] for n in ("treeids", "nodeids", "featureids", "modes", "values")}
    columns |= {f"nodes_{side}nodeids": [] for side in ("true", "false")}
    for tree in range(trees):
        child = np.zeros((2 * leaves - 1, 2), int)
        ends = [0]
        for node in range(1, 2 * leaves - 1, 2):
            child[ends.pop(int(rng.integers(len(ends))))] = node, node + 1
            ends += [node, node + 1]
        count = len(child)
        columns["nodes_treeids"] += [tree] * count
        columns["nodes_nodeids"] += range(count)
        columns["nodes_featureids"] += rng.integers(0, FEATURES, count).tolist()
        columns["nodes_values"] += (0.7 * rng.standard_normal(count)).tolist()
        columns["nodes_modes"] += ["BRANCH_LEQ" if c else "LEAF" for c in child[:, 0]]
        columns["nodes_truenodeids"] += child[:, 0].tolist()
        columns["nodes_falsenodeids"] += child[:, 1].tolist()
    ends = [n for n, mode in enumerate(columns["nodes_modes"]) if mode == "LEAF"]
    columns |= {
        f"target_{n}": np.repeat(np.array(columns[f"nodes_{n}"])[ends], targets).tolist()
        for n in ("treeids", "nodeids")
    }
    columns |= {"target_ids": [*range(targets)] * len(ends)}
    columns |= {"target_weights": rng.standard_normal(len(ends) * targets).tolist(), "n_targets": targets}  # type: ignore[dict-item]
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **columns)
    x, y = (helper.make_tensor_value_info(n, 1, ["rows", k]) for n, k in (("x", FEATURES), ("y", targets)))
    opsets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    return helper.make_model(helper.make_graph([node], "trees", [x], [y]), opset_imports=opsets, ir_version=9)


def trained(folder: Path, threads: int, rng: np.random.Generator) -> tuple[onnx.ModelProto, dict[str, Run]] | None:
    """A model of LightGBM, and the libraries that run its own file."""
    try:
        import lightgbm
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
    except ImportError:
        return None
    x = rng.standard_normal((5000, FEATURES)).astype("f4")
    y = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + x[:, 3:9].sum(1)
    model = lightgbm.LGBMRegressor(n_estimators=100, verbose=-1, n_jobs=1).fit(x, y)
    file = str(folder / "lightgbm.txt")
    model.booster_.save_model(file)
    made = onnxmltools.convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, FEATURES]))])
    return made, others_of(file, threads)


def others_of(file: str, threads: int) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    try:
        import lleaves

        compiled = lleaves.Model(model_file=file)
        compiled.compile()
        runs["lleaves"] = lambda x: compiled.predict(x, n_jobs=threads)
    except ImportError:
        pass
    try:
        import tl2cgen
        import treelite

        library = f"{file}.so"
        tl2cgen.export_lib(treelite.frontend.load_lightgbm_model(file), toolchain="gcc", libpath=library)
        predictor = tl2cgen.Predictor(library, nthread=threads)
        runs["tl2cgen"] = lambda x: predictor.predict(tl2cgen.DMatrix(x, dtype="float32"))
    except ImportError:
        pass
    return runs


def timed(runs: dict[str, Run], batches: list[np.ndarray], rounds: int) -> dict[str, float]:
    """The least seconds of a call, of bursts in turn. Each call has other rows: branches would be learnt by heart."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            for x in batches:
                run(x)
            best[name] = min(best[name], (time.perf_counter() - start) / len(batches))
    return best


def rows_of(
    name: str, model: onnx.ModelProto, more: dict[str, Run], threads: int, rounds: int
) -> Iterator[dict[str, str]]:
    before = os.times()
    ours = mlc.compile(model, threads=threads)
    cpu = sum(b - a for a, b in zip(before[:4], os.times()[:4], strict=True))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    key = session.get_inputs()[0].name
    runs: dict[str, Run] = {"ours": lambda x: ours.run({key: x}), "onnxruntime": lambda x: session.run(None, {key: x})}
    for count in (1, 10, 1000, 10000):
        x = np.random.default_rng().standard_normal((max(count, 500), FEATURES)).astype("f4")
        best = timed(runs | more, np.array_split(x, len(x) // count), rounds)
        ratios = {n: f"{best[n] / best['ours']:.2f}" for n in best}
        cells = {"model": name, "rows": str(count), "compile CPU s": f"{cpu:.1f}", "us": f"{best['ours'] * 1e6:.1f}"}
        others = ", ".join(f"{n} {ratios[n]}" for n in more)
        yield cells | {"onnxruntime / ours": ratios["onnxruntime"], "others / ours": others}


def main(
    name: Annotated[list[str] | None, typer.Argument(help=f"{', '.join(SHAPES)}, lightgbm; all.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of each.")] = 1,
    rounds: Annotated[int, typer.Option(help="Bursts of each, in turn.")] = 7,
) -> None:
    """Prints a row a model and number of rows: what the others take, divided by our time."""
    rng, found = np.random.default_rng(), []
    for each in name or [*SHAPES, "lightgbm"]:
        with tempfile.TemporaryDirectory() as folder:
            made = trained(Path(folder), threads, rng) if each == "lightgbm" else (ensemble(*SHAPES[each], rng), {})
            if made is not None:
                found += rows_of(each, *made, threads, rounds)
    show_rows(f"Tree ensembles, threads: {threads}", found)


if __name__ == "__main__":
    typer.run(main)
