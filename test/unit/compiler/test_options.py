from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import mlc
from mlc import target as targets
from mlc.api import make_options
from mlc.errors import InputError
from mlc.options import Options, cache_key_fields, environment


@pytest.mark.parametrize(
    "wrong",
    [
        {"numerics": "sloppy"},
        {"threads": -1},
        {"dims": {"n": 0}},
        {"dims": {"n": -3}},
        {"dims": {"n": "7"}},
        {"peak_memory": -1},
        {"peak_memory": "200M"},
        {"threads": "two"},
    ],
)
def test_wrong_values_are_input_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Options(**wrong)  # type: ignore[arg-type]


def test_dims_of_numpy_are_those_of_python() -> None:
    dims = make_options(dims={"n": np.int64(3)}, tuned=False).dims  # type: ignore[dict-item]
    assert dims == {"n": 3} and type(dims["n"]) is int
    with pytest.raises(InputError, match='Write it as dims={"batch": 8}'):
        make_options(dims=["n"], tuned=False)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is no dictionary"):
        mlc.compile("absent.onnx", dims=3)  # type: ignore[arg-type]


def test_every_option_is_documented_and_classified() -> None:
    for option in dataclasses.fields(Options):
        assert option.metadata["help"]
        assert (option.name in cache_key_fields) == option.metadata["key"]


def test_the_key_follows_what_changes_code_and_nothing_else() -> None:
    base = Options().key()
    same = [Options(threads=3), Options(cc="clang")]
    other = [
        Options(target=targets.get("x86-64")),
        Options(dims={"n": 2}),
        Options(numerics="strict"),
        Options(embed_weights=True),
        Options(schedule="k: tile"),
        Options(sanitize="address"),
        Options(peak_memory=1 << 20),
    ]
    assert all(options.key() == base for options in same)
    assert len({json.dumps(options.key()) for options in [Options(), *other]}) == len(other) + 1


def test_the_order_of_dims_does_not_matter() -> None:
    one, two = Options(dims={"a": 1, "b": 2}), Options(dims={"b": 2, "a": 1})
    assert json.dumps(one.key()) == json.dumps(two.key())


def test_small_weights_are_embedded_by_default() -> None:
    assert Options().embeds(1000) and not Options().embeds(1 << 20)
    assert not Options(embed_weights=False).embeds(1000)
    assert Options(embed_weights=True).embeds(1 << 30)


def test_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLC_CACHE_SIZE", "3")
    assert environment().cache_bytes == 3 << 20
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    assert environment().cache_dir is None
    monkeypatch.delenv("MLC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert environment().cache_dir == tmp_path / "mlc"
    monkeypatch.setenv("MLC_DEBUG", "0")
    assert not environment().debug
