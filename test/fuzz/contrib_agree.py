"""Whether mlc gives for cases of `contrib.py` what onnxruntime gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnxruntime
from contrib import BF16, Array, Case, Draw, feeds_of, load, model_of
from onnx.reference import ReferenceEvaluator

import mlc
from benchmarks.exact_sessions import SATURATES
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model

VARIANTS = 2  # sizes of open extents that one model is run with
PRECISE, HALF, BRAIN = 5e-5, 4e-3, 3e-2  # of the largest value: f32, f16, bf16
NO_REFERENCE, REFUSED = "no reference", "refused"
onnxruntime.set_default_logger_severity(4)
Key = tuple[str, int]  # a row and a seed


@cache
def drawn(name: str, seed: int, variant: int = 0) -> Case:
    return load()[name](Draw(name, seed, variant))


def variants_of(name: str, seed: int) -> range:
    """One where no extent is open."""
    return range(VARIANTS if any(any(x.names) for x in drawn(name, seed).inputs if x is not None) else 1)


def interpreted(name: str, seed: int) -> str:
    """What is wrong with a case, interpreted; empty where nothing is."""
    case = drawn(name, seed)
    try:
        imported = import_model(model_of([("", case)], _widened(case)))
        imported.module.verify()
    except mlc.MlcError as error:
        return _refusal(name, case, error)
    if case.refused:
        return f"{name}: is not refused by {case.refused!r}"
    for variant in variants_of(name, seed):
        other = drawn(name, seed, variant)
        if problem := _judge(name, other, "", interpret(imported.module, imported.weights, feeds_of("", other))):
            return problem
    return ""


def compiled(keys: Sequence[Key], threads: int = 1, sanitize: str = "") -> dict[Key, str]:
    """What is wrong with cases, compiled together; of those that are refused, alone."""
    parts: dict[int, list[Key]] = {}
    problems: dict[Key, str] = {}
    for key in keys:
        case = drawn(*key)
        try:
            import_model(model_of([("", case)], _widened(case)))
            parts.setdefault(case.opset, []).append(key)
        except mlc.MlcError as error:
            problems[key] = _refusal(key[0], case, error)
    for part in parts.values():
        problems |= dict(_together(part, threads, sanitize))
    return {key: problem for key, problem in problems.items() if problem}


def _together(keys: Sequence[Key], threads: int, sanitize: str) -> Iterator[tuple[Key, str]]:
    cases = [(f"c{n}_", drawn(*key)) for n, key in enumerate(keys)]
    widened = [f"{prefix}{y}" for prefix, case in cases for y in _widened(case)]
    with mlc.compile(model_of(cases, widened), threads=threads, sanitize=sanitize) as net:
        for variant in range(VARIANTS):
            chosen = [drawn(*key, variant if variant in variants_of(*key) else 0) for key in keys]
            others = [(f"c{n}_", case) for n, case in enumerate(chosen)]
            results = net.run({k: v for prefix, case in others for k, v in feeds_of(prefix, case).items()})
            for key, (prefix, case) in zip(keys, others, strict=True):
                yield key, _judge(key[0], case, prefix, results)


def _refusal(name: str, case: Case, error: Exception) -> str:
    text = " ".join(str(error).split())
    if case.refused and case.refused in text:
        return ""
    return f"{name}: {REFUSED}: {text[:400]}"


def _judge(name: str, case: Case, prefix: str, results: Mapping[str, Array]) -> str:
    wanted = _by_onnxruntime(case)
    if isinstance(wanted, str):
        return f"{name}: {NO_REFERENCE}: {wanted}"
    wanted = {y: value for y, value in wanted.items() if int(y[1:]) not in case.ignored}
    found = {y: results[f"{prefix}{y}"] for y in wanted}
    return "; ".join(f"{name}: {y} {line}" for y in wanted if (line := _unlike(case, found[y], wanted[y])))


def _session(case: Case, widened: Sequence[str]) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    if SATURATES:  # its exact kernels are chosen by an optimization
        options.add_session_config_entry("session.x64quantprecision", "1")
    else:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    model = model_of([("", case)], widened)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _widened(case: Case) -> list[str]:
    """The outputs that are bfloat16."""
    if all(x is None or x.array.dtype != BF16 for x in case.inputs):
        return []
    try:
        return [y.name for y in _session(case, []).get_outputs() if "bfloat16" in y.type]
    except Exception:  # it will say so again
        return []


def _by_onnxruntime(case: Case) -> dict[str, Array] | str:
    try:
        session = _session(case, _widened(case))
        names = [y.name for y in session.get_outputs()]
        found = _in_place(session, case) if case.shared or case.onto else session.run(names, feeds_of("", case))
        return dict(zip(names, found, strict=True))
    except Exception as error:
        if not case.domain and not case.shared:
            return _evaluated(case)
        return " ".join(str(error).split())[:400]


def _evaluated(case: Case) -> dict[str, Array] | str:
    """What onnx's own evaluator gives for an operator of ONNX that onnxruntime does not have yet."""
    model = model_of([("", case)])
    names = [y.name for y in model.graph.output]
    try:
        return dict(zip(names, ReferenceEvaluator(model).run(names, feeds_of("", case)), strict=True))
    except Exception as error:
        return " ".join(str(error).split())[:400]


def _in_place(session: onnxruntime.InferenceSession, case: Case) -> list[Any]:
    """The results where some outputs are in the memory of inputs."""
    binding = session.io_binding()
    values = {n: onnxruntime.OrtValue.ortvalue_from_numpy(x) for n, x in feeds_of("", case).items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for y in session.get_outputs():
        number = int(y.name[1:])
        if number in case.shared:
            binding.bind_ortvalue_output(y.name, values[f"x{case.shared[number]}"])
        elif number in case.onto:
            binding.bind_ortvalue_output(y.name, onnxruntime.OrtValue.ortvalue_from_numpy(case.onto[number].copy()))
        else:
            binding.bind_output(y.name)
    session.run_with_iobinding(binding)
    return list(binding.copy_outputs_to_cpu())


def _unlike(case: Case, actual: Array, wanted: Any) -> str:
    """How a result differs; empty where it does not."""
    wanted = np.asarray(wanted)
    if (actual.dtype, actual.shape) != (wanted.dtype, wanted.shape):
        return f"is {actual.dtype}{list(actual.shape)} in place of {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind == "O":
        return "has other strings" if (actual != wanted).any() else ""
    with np.errstate(invalid="ignore"):  # of equal infinities
        error = np.abs(actual.astype("f8") - wanted.astype("f8"))
    same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted)) if wanted.dtype.kind == "f" else actual == wanted
    if not (np.isfinite(error) | same).all():
        return "has other infinities or NaN"
    largest = np.abs(wanted[np.isfinite(wanted)].astype("f8")).max(initial=0)
    allowed = _allowed(case, wanted) * (largest if wanted.dtype.kind == "f" else 1)
    worst, many = error.max(where=~same, initial=0), int((~same & (error > allowed)).sum())
    return f"is off by {worst:.3g} in {many} of {error.size}, the largest is {largest:.3g}" if many else ""


def _allowed(case: Case, wanted: Array) -> float:
    if wanted.dtype.kind != "f":
        return case.steps
    if case.rtol is not None:
        return case.rtol
    brain = any(x is not None and x.array.dtype == BF16 for x in case.inputs)
    return BRAIN if brain else HALF if wanted.dtype == np.float16 else PRECISE
