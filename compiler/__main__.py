"""``python -m mlc``, and what the script ``mlc`` calls: the command line. Ctrl-C may end it while it is imported."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from typing import NoReturn

from mlc.interrupts import handled


def main() -> NoReturn:
    """Import the command line and run it. Exit status 130 after Ctrl-C.

    A process that compiles one model collects no garbage, neither before its end nor at it: of a model of 100 kernels
    that takes an eighth of the passes' time, and the memory is the system's soon.
    """
    if "compile" in sys.argv[1:]:
        gc.disable()
        atexit.register(gc.freeze)
    with handled():
        try:
            from mlc.cli import main

            main()
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C finds nothing that it could end sooner


if __name__ == "__main__":
    main()
