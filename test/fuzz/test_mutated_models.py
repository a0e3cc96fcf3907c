"""The first damaged models, in every run; `fuzz_models.py` damages as many others as one likes."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import onnx
import pytest
from examine import Judge
from grow import grown
from growing import ROUGH, ROUNDED
from isolate import apart, judged
from mutate import mutant
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

COUNT = 3000


def models() -> list[bytes]:
    """Random graphs whose results are exact, and the models that the onnx package keeps as files."""
    graphs = [grown(seed) for seed in range(60)]
    exact = [g for g in graphs if not any(o.name.startswith((ROUNDED, ROUGH)) for o in g.graph.output)]
    stored = [case for kind in ("simple", "pytorch-operator") for case in load_model_tests(kind=kind)]
    files = [Path(case.model_dir, "model.onnx").read_bytes() for case in stored]
    return [model.SerializeToString() for model in exact] + files


@pytest.mark.parametrize("first", range(0, COUNT, 1000))
def test_damaged_models_are_refused_or_right(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    valid = models()
    judge = Judge(lambda n: mutant(valid, n), tmp_path)
    found = {case: problem for case, problem in judged(range(first, first + 1000), judge, 120) if problem}
    assert not found


def test_random_numbers_are_compared_with_none(tmp_path: Path) -> None:
    infos = [helper.make_tensor_value_info(name, 1, [3, 40]) for name in "xy"]
    node, training = helper.make_node("Dropout", ["x", "", "t"], ["y"]), numpy_helper.from_array(np.array(True), "t")
    graph = helper.make_graph([node], "g", infos[:1], infos[1:], [training])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    assert Judge(lambda _: model.SerializeToString(), tmp_path)(0) == ""


def test_mutants_are_the_same_for_the_same_seed_and_mostly_damaged() -> None:
    valid = models()
    made = [mutant(valid, seed) for seed in range(200)]
    assert made == [mutant(valid, seed) for seed in range(200)]
    assert sum(data not in valid for data in made) > 150
    assert sum(_parses(data) for data in made) > 100


def _parses(data: bytes) -> bool:
    try:
        onnx.load_from_string(data)
    except Exception:
        return False
    return True


def _misbehave(case: int) -> str:
    """Kill the process, fail, hang; all others are well."""
    if case == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if case == 2:
        raise KeyError("two")
    if case == 3:
        time.sleep(60)
    return "wrong" if case == 4 else ""


def test_what_a_case_does_to_its_process_is_its_own_result() -> None:
    found = dict(judged(range(6), _misbehave, 1.0))
    assert found == {
        0: "",
        1: "the process ended by SIGKILL",
        2: "KeyError: 'two'",
        3: "no answer in 1 s",
        4: "wrong",
        5: "",
    }


def _hold(out: Connection) -> None:
    """Say which process judges, and wait to be killed."""
    for _, process in judged(range(2), lambda _: str(os.getpid()), 60):
        out.send(int(process))
        time.sleep(60)


def test_the_process_of_cases_ends_with_its_parent() -> None:
    ours, theirs = Pipe()
    parent = get_context("fork").Process(target=_hold, args=(theirs,))
    parent.start()
    theirs.close()  # else the death of the parent is no end of the pipe
    child = Path(f"/proc/{ours.recv()}")
    parent.kill()
    parent.join()
    end = time.monotonic() + 20
    while child.exists() and "\nState:\tZ" not in (child / "status").read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert time.monotonic() < end


def test_work_apart() -> None:
    assert apart(lambda: 7, 5) == 7
    assert apart(lambda: os.kill(os.getpid(), signal.SIGKILL), 5) is None
    assert apart(lambda: time.sleep(60), 0.5) is None
