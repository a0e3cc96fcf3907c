"""Ownership and modes of the cache: loading an artifact runs its code, which this user or root must have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

PRIVATE = 0o700  # mode of folders
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone. OSError if that fails."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=PRIVATE, exist_ok=True)


def problem(path: Path) -> str | None:
    """Why a file or folder may have been written by someone else; None: it exists and was not."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"{path} is a symbolic link"
    return _problem(path, status, status.st_mode & OTHERS_WRITE)


def problem_of_root(root: Path) -> str | None:
    """``problem`` of the cache's own folder, which may be a link, or a shared one that protects entries (sticky)."""
    try:
        status = root.stat()
    except OSError:
        return None  # there is nothing in it
    return _problem(root, status, status.st_mode & OTHERS_WRITE and not status.st_mode & stat.S_ISVTX)


def _problem(path: Path, status: os.stat_result, writable: int | bool) -> str | None:
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user; set MLC_CACHE_DIR to a folder of your own"
    return f"others can write to {path}; 'chmod -R go-w {path}' forbids it" if writable else None
