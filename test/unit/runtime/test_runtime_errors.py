"""What errors say, and that they survive process pools."""

from __future__ import annotations

import pickle

import pytest

from mlc.errors import ArtifactError, InputError, MlcError, RunError


def test_one_paragraph():
    error = InputError("Unknown operator", node="conv1", op="Foo", stage="import", hint="Update mlc")
    assert str(error) == "Unknown operator (node 'conv1', operator 'Foo', stage 'import'). Update mlc."
    assert str(MlcError("Broken.")) == "Broken."


@pytest.mark.parametrize("kind", [MlcError, InputError, ArtifactError, RunError])
def test_pickles_whole(kind):
    error = pickle.loads(pickle.dumps(kind("m", node="n", op="o", stage="s", hint="h")))
    assert type(error) is kind
    assert (error.message, error.node, error.op, error.stage, error.hint) == ("m", "n", "o", "s", "h")


def test_exit_codes():
    assert [kind.exit_code for kind in (MlcError, InputError, ArtifactError, RunError)] == [1, 2, 2, 1]
