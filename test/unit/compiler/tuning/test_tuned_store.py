"""The file of tuned schedules: what is recorded comes back for the same machine, and nothing else does."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mlc.errors import InputError, OutputError
from mlc.options import Options
from mlc.target import get
from mlc.tuning.store import Store, Tuned, destination, known, machine_of

FAST = Tuned("contraction: S0 | m/8 n/32v | k", 0.125, "net")
MACHINE = {"cpu": "a", "threads": 2}


@pytest.fixture
def store(own_cache: Path) -> Store:
    assert Store.default().path == own_cache / "tuned.json"
    return Store.default()


def test_what_is_recorded_comes_back_for_the_same_machine(store: Store) -> None:
    assert store.schedules(MACHINE) == {}
    store.record(MACHINE, {"k1": FAST, "k2": None})
    assert store.schedules(MACHINE) == {"k1": FAST}
    assert store.schedules(MACHINE | {"threads": 1}) == {}
    store.record(MACHINE | {"threads": 1}, {"k1": FAST})
    assert [known for _, known in store.machines()] == [{"k1": FAST}] * 2


def test_what_is_no_longer_faster_is_forgotten(store: Store) -> None:
    store.record(MACHINE, {"k1": FAST, "k2": FAST})
    store.record(MACHINE, {"k1": None, "k3": FAST})
    assert store.schedules(MACHINE).keys() == {"k2", "k3"}
    assert store.clear() == 2
    assert store.schedules(MACHINE) == {} and store.clear() == 0


def test_a_write_that_fails_leaves_the_old_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.record(MACHINE, {"k1": FAST})
    folder = store.path.parent  # type: ignore[union-attr]
    before = {path.name for path in folder.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OutputError, match="No space left"):
            store.record(MACHINE, {"k2": FAST})
    assert store.schedules(MACHINE) == {"k1": FAST}
    assert {"tuned.json", "tuned.lock"} <= before == {path.name for path in folder.iterdir()}


def test_writers_side_by_side_lose_nothing(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.record(MACHINE, {f"k{n}": FAST}), range(32)))
    assert len(store.schedules(MACHINE)) == 32


@pytest.mark.parametrize("damage", ["cut", "no json", "other format", "no schedule", "other key", "a list"])
def test_a_damaged_file_warns_and_counts_as_empty(store: Store, damage: str) -> None:
    store.record(MACHINE, {"k1": FAST})
    assert store.path is not None
    text = store.path.read_text()
    changed = {
        "cut": text[:-20],
        "no json": "schedules",
        "other format": text.replace('"format": 1', '"format": 2'),
        "no schedule": text.replace('"schedule"', '"plan"'),
        "other key": text.replace('"cpu": "a"', '"cpu": "b"'),
        "a list": "[]",
    }[damage]
    assert changed != text
    store.path.write_text(changed)
    with pytest.warns(UserWarning, match="mlc cache clear --tuned"):
        assert store.schedules(MACHINE) == {}
    with pytest.warns(UserWarning):
        store.record(MACHINE, {"k2": FAST})
    assert store.schedules(MACHINE) == {"k2": FAST}


def test_the_machine_is_all_that_a_measurement_depends_on() -> None:
    machine = machine_of(Options(threads=3))
    assert machine["threads"] == 3 and machine["cpu"] and machine["compiler"] and machine["mlc"]
    assert json.loads(json.dumps(machine)) == machine
    assert machine_of(Options(threads=3, target=replace(get("cpu"), features=()))) != machine


def test_who_may_use_tuned_schedules(store: Store) -> None:
    options = Options(threads=2)
    store.record(machine_of(options), {"k1": FAST})
    assert known(options) == {"k1": FAST.schedule}
    assert known(replace(options, threads=1)) == {}
    assert known(replace(options, numerics="strict")) == {}
    assert known(replace(options, target=get("x86-64"))) == {}


def test_a_result_needs_a_place(store: Store) -> None:
    named = Options(target=get("x86-64"))
    assert destination(Options(), store, elsewhere=False) == store
    assert destination(named, store, elsewhere=True) == Store(None)
    with pytest.raises(InputError, match="x86-64 does not depend on the machine.*-o FILE"):
        destination(named, store, elsewhere=False)
    with pytest.raises(InputError, match="no cache"):
        destination(Options(), Store(None), elsewhere=False)
    with pytest.raises(InputError, match="strict"):
        destination(Options(numerics="strict"), store, elsewhere=True)
