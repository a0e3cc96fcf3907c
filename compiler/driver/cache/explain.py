"""Explain a cache miss: the difference between the key of a source and that of the last artifact."""

from __future__ import annotations

from mlc.driver.cache import known_keys
from mlc.driver.cache.cache_key import CacheKey, difference
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.source import Source
from mlc.options import Options
from mlc.pipelines.backends import backend_of


def explain(source: Source, options: Options) -> list[str]:
    """Lines that say whether a model would come from the cache, and if not, why.

    InputError for one that cannot be compiled, so that there will never be an artifact of it.
    """
    cache = Cache.default()
    key = known_keys.recall(source, options, backend_of(options.target).toolchain(options.cc), cache)
    if key is not None and cache.get("artifacts", key.digest):
        return [f"cache: hit, {key.digest[:12]}"]
    source.imported(options.dims)
    return reasons(source, key, cache)


def reasons(source: Source, key: CacheKey | None, cache: Cache) -> list[str]:
    """The difference of ``key`` from that of the last cached artifact of the same model, or of the same name."""
    known = [e for e in cache.entries() if e.kind == "artifacts" and source.name == e.about.get("name")]
    if not known:
        return [f"cache: nothing is known of {source.name} yet"]
    newest = max(known, key=lambda entry: (entry.about["model"] == source.digest, entry.used))
    parts = newest.about | {"model": source.digest} if key is None else key.parts
    lines = difference(newest.about, parts)
    return [f"cache: miss; differs from {newest.path.name[:12]} in {line}" for line in lines or ["its files"]]
