"""Clusters: files, levels that an axis crosses, and collectives that are made level by level."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlc.comm.link import Link
from mlc.errors import InputError
from mlc.planning.cluster import Cluster, Level, bytes_of_text, read
from mlc.planning.collectives import seconds, sent

FAST, SLOW = Link(1e-6, 1e-11), Link(1e-5, 1e-9)
HOSTS = Cluster((Level(8, FAST), Level(0, SLOW)), 1e12, 1e11)


def test_an_axis_crosses_the_levels_that_its_ranks_are_apart() -> None:
    assert HOSTS.links(8, 1) == ((8, FAST),)
    assert HOSTS.links(4, 8) == ((4, SLOW),)
    assert HOSTS.links(16, 1) == ((8, FAST), (2, SLOW))
    assert HOSTS.links(16, 4) == ((2, FAST), (8, SLOW))
    with pytest.raises(InputError, match="do not fit hosts of 8"):
        HOSTS.links(12, 1)


def test_a_collective_over_hosts_is_made_level_by_level() -> None:
    size = 1 << 20
    inner, outer = FAST.alpha + FAST.beta * size * 7 / 8, SLOW.alpha + SLOW.beta * size / 8 / 2
    assert seconds("reduce_scatter", size, HOSTS.links(16, 1)) == pytest.approx(inner + outer)
    assert seconds("all_reduce", size, HOSTS.links(16, 1)) == pytest.approx(2 * (inner + outer))
    flat = seconds("all_reduce", size, ((16, SLOW),))
    assert seconds("all_reduce", size, HOSTS.links(16, 1)) < flat / 4


def test_a_rank_sends_what_the_textbook_says() -> None:
    assert sent("all_reduce", 800, 8) == 1400 and sent("all_gather", 800, 8) == 700
    assert sent("reduce_scatter", 800, 8) == 700 and sent("all_to_all", 800, 8) == pytest.approx(87.5)


def test_a_cluster_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text('[rank]\nflops = 1e12\nmemory = "16GiB"\noverlap = 0.5\n'
                    "[[level]]\nranks = 4\nalpha = 1e-6\nbeta = 1e-11\n"
                    "[[level]]\nalpha = 1e-5\nbeta = 1e-9\n")  # fmt: skip
    found = read(path)
    assert found.flops == 1e12 and found.memory == 16 << 30 and found.overlap == 0.5
    assert found.links(8, 1) == ((4, FAST), (2, SLOW))


def test_what_the_measurement_of_collectives_prints_is_a_cluster_file(tmp_path: Path) -> None:
    path = tmp_path / "links.json"
    path.write_text('{"ranks": 2, "alpha": 2e-5, "beta": 1e-9, "samples": []}')
    assert read(path).levels == (Level(0, Link(2e-5, 1e-9)),)


@pytest.mark.parametrize(
    "text, message",
    [("[rank]\nspeed = 1", "speed"), ("[[level]]\nalpha = 1", "beta"), ("rank = [", "cannot be read"),
     ('[rank]\nmemory = "much"', "'much' is no size")],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "c.toml")


def test_sizes_of_memory() -> None:
    assert bytes_of_text("16GiB") == 16 << 30 and bytes_of_text("500 MB") == 5e8 and bytes_of_text("1e9") == 1e9
