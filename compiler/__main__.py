"""``python -m mlc``, and what the script ``mlc`` calls: the command line. Ctrl-C may end it while it is imported."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line and run it. Exit status 130 after Ctrl-C."""
    try:
        from mlc.cli import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()


if __name__ == "__main__":
    main()
