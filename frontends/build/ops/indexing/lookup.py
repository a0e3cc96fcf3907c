"""Values of keys that are known when a model is compiled: a table where the keys are near, else a hash table.

The hash is perfect: "hash and displace" of Belazzougui, Botelho and Dietzfelbinger (2009), with remainders as hashes.
"""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.tensors import Tensor

SPARSE = 16  # numbers a key above which keys are hashed
IN_BUCKET, LARGEST_BUCKET = 4, 64  # keys: on average, at most
ATTEMPTS = 64  # pairs of hashes


def looked_up(build: Builder, x: Tensor, keys: Array, values: Array, element: str) -> Tensor | None:
    """``values[n]`` for each element of ``x``, where ``keys[n]`` is the first key that equals it; else the last value.

    ``x`` and the keys are i64, or the numbers of strings; there is one value more than keys. None if no hash divides
    the keys well.
    """
    if not len(keys):
        return build.broadcast(Tensor.from_known(values[-1], element), x.shape)
    here = f"x0[{', '.join(f'i{n}' for n in range(x.rank)) or '()'}]"
    numbers = x if x.element == "i64" else Tensor.of(build.value(x))
    if (found := _by_key(keys)) is not None:
        first, rows = found
        at = f"where(({here} >= {first}) & ({here} < {first + len(rows)}), {here} - {first}, {len(rows)})"
        table = values[np.append(rows, len(keys))]
        return build.compute(f"x1[{at}]", [numbers, Tensor.from_known(table, element)], x.shape)
    if (hashed := _hashed(keys)) is None:
        return None
    modulus, displacements, slots = hashed
    slot = f"(({here} % {modulus} + x1[{here} % {len(displacements)}]) % {len(slots)})"
    table = values[np.append(slots, len(keys))]
    owners = keys[np.where(slots < len(keys), slots, 0)]  # an empty slot has a key whose slot is another one
    operands = [numbers, *map(Tensor.from_known, (displacements, owners)), Tensor.from_known(table, element)]
    return build.compute(f"x3[where(x2[{slot}] == {here}, {slot}, {len(slots)})]", operands, x.shape)


def _by_key(keys: Array) -> tuple[int, Array] | None:
    """The least key, and for each number from there on the index of the first key that it is, or how many there are;
    None where keys are far from each other. Its length is a power of two, so that more kernels are equal."""
    first, last = int(keys.min()), int(keys.max())
    first = 0 if 0 <= first <= last - first else first
    if last - first >= SPARSE * max(keys.size, SPARSE):
        return None
    index = np.full(1 << (last - first).bit_length(), keys.size)
    index[keys[::-1] - first] = np.arange(keys.size)[::-1]
    return first, index


def _hashed(keys: Array) -> tuple[int, Array, Array] | None:
    """A modulus, displacements and slots: the index of the first key that equals k, or how many there are, is at
    slots[(k % modulus + displacements[k % len(displacements)]) % len(slots)]."""
    unique, firsts = np.unique(keys, return_index=True)
    size = 1 << (2 * len(unique)).bit_length()
    for attempt in range(ATTEMPTS):
        buckets, modulus = len(unique) // IN_BUCKET + 2 + attempt, size + 1 + 2 * attempt
        bucket, base = unique % buckets, unique % modulus % size
        if np.bincount(bucket).max() > LARGEST_BUCKET or len(np.unique(bucket * size + base)) < len(unique):
            continue
        if (found := _displaced(bucket, base, buckets, size)) is not None:
            slots = np.full(size, len(keys))
            slots[(base + found[bucket]) % size] = firsts
            return modulus, found, slots
    return None


def _displaced(bucket: Array, base: Array, buckets: int, size: int) -> Array | None:
    """For each bucket the displacement by which its keys take slots that are free; the largest bucket chooses first."""
    taken, displacements = np.zeros(size, bool), np.zeros(buckets, np.int64)
    order = np.argsort(bucket, kind="stable")
    counts = np.bincount(bucket, minlength=buckets)
    groups = np.split(base[order], np.cumsum(counts)[:-1])
    for number in np.argsort(-counts, kind="stable"):
        offsets = groups[number]
        free = (d for d in range(size) if not taken[(offsets + d) % size].any())
        if (found := next(free, None)) is None:
            return None
        displacements[number], taken[(offsets + found) % size] = found, True
    return displacements
