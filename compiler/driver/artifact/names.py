"""Name mangling: a model's name as the prefix of its C symbols and the stem of its files, and names in C comments."""

from __future__ import annotations

import hashlib
import re

from mlc.errors import visible

LONGEST = 64  # characters of a prefix: `PREFIX.weights` and longer symbols stay below every limit
LONGEST_SHOWN = 120  # of a name in a comment
RESERVED = frozenset({
    "mlc", "pthread", "posix", "sem", "mtx", "cnd", "thrd", "tss", "timer", "timerfd", "aio", "argp", "argz", "gai",
    "epoll", "memfd", "clnt", "clntraw", "clnttcp", "clntudp", "clntunix", "svc", "svcfd", "svcraw", "svctcp", "svcudp",
    "svcunix", "svcunixfd", "authdes", "authnone", "authunix", "xdrmem", "xdrrec", "xdrstdio",
})  # fmt: skip
"""First words of the symbols of mlc's runtime and of the C library: ``sem_destroy`` would take the place of theirs."""


def c_prefix(name: str) -> str:
    """A model's name as the prefix of its C symbols: ``net.v2`` -> ``net_v2``, ``2net`` -> ``m_2net``."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "model"
    if len(cleaned) > LONGEST:
        cleaned = f"{cleaned[: LONGEST - 9]}_{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return f"m_{cleaned}" if cleaned[0].isdigit() or cleaned.split("_")[0] in RESERVED else cleaned


def comment_text(name: str) -> str:
    """A name as it may stand in a C comment: it neither ends nor begins a comment, and has no mark that reorders
    text.
    """
    shown = name if len(name) <= LONGEST_SHOWN else f"{name[: LONGEST_SHOWN - 3]}..."
    return re.sub(r"/(?=\*)|\*(?=/)", r"\g<0> ", visible(shown, kept=""))
