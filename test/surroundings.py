"""What a test inherits from the shell that started it: the same on every machine.

A shell without job control, ``nohup`` and some runners of continuous integration start programs that ignore signals,
which their children then ignore too; a terminal's size and colours change what commands print.
"""

from __future__ import annotations

import os
import signal

UMASK = 0o022
LEFT_OUT = (
    *("COLUMNS", "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PAGER"),
    *("TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "MLC_DEBUG", "MLC_CACHE_SIZE"),
)
"""Variables that change what a command prints or how it ends."""
DEFAULT = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2)


def usual_surroundings() -> None:
    """At the start of a session, in pytest itself and in each of its workers."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in DEFAULT:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.umask(UMASK)
    for name in LEFT_OUT:
        os.environ.pop(name, None)
