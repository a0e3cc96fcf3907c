"""``python -m mlc``: the command line where its script is not on the path."""

from mlc.cli import main

if __name__ == "__main__":
    main()
