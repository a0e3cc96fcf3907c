"""Runs cases in a child process, where a crash, a hang or a memory explosion is the result of a case."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sanitized import loaded

Judge = Callable[[int], str]  # what is wrong with a case; empty where nothing is
MEMORY = 6 << 30  # bytes of address space that a case may take beyond what the parent has
_context = multiprocessing.get_context("fork")


def judged(cases: Iterable[int], judge: Judge, seconds: float) -> Iterator[tuple[int, str]]:
    """Each case with what is wrong with it; a child that dies, or takes over ``seconds`` for one, is replaced."""
    waiting = iter(cases)
    case = next(waiting, None)
    while case is not None:
        ours, theirs = _context.Pipe()
        child = _context.Process(target=_serve, args=(ours, theirs, judge))
        child.start()
        theirs.close()
        problem: str | None = ""
        try:
            while case is not None and problem is not None:
                problem = _ask(ours, case, seconds)
                yield case, _death(child, seconds) if problem is None else problem
                case = next(waiting, None)
        finally:  # also where nobody wants to know more
            ours.close()
            _end(child)


def _ask(pipe: Connection, case: int, seconds: float) -> str | None:
    """The child's answer; None where there is none."""
    try:
        pipe.send(case)
        return str(pipe.recv()) if pipe.poll(seconds) else None
    except (EOFError, OSError):
        return None


def _serve(parents: Connection, pipe: Connection, judge: Judge) -> None:
    parents.close()  # else a parent that is killed leaves the pipe open, and this process running
    _limit_memory()
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            pipe.send(judge(case))
        except Exception as error:  # whatever it is, it is a finding
            pipe.send(f"{type(error).__name__}: {str(error)[:500]}")


def _limit_memory() -> None:
    if not loaded():  # which takes terabytes of addresses
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _death(child: multiprocessing.process.BaseProcess, seconds: float) -> str:
    child.join(0.5)
    if child.exitcode is None:
        return f"no answer in {seconds:.0f} s"
    return f"the process ended by {signal.Signals(-child.exitcode).name if child.exitcode < 0 else child.exitcode}"


def _end(child: multiprocessing.process.BaseProcess) -> None:
    child.kill()
    child.join()


def apart(work: Callable[[], Any], seconds: float) -> Any:
    """The result of ``work``, done in a process of its own; None where it fails, dies or takes too long."""
    ours, theirs = _context.Pipe()
    child = _context.Process(target=_work, args=(theirs, work), daemon=True)
    child.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else None
    except (EOFError, OSError):
        return None
    finally:
        _end(child)


def _work(pipe: Connection, work: Callable[[], Any]) -> None:
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        pipe.send(work())
    except Exception:
        pipe.send(None)
