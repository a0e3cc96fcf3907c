"""``solve_ivp``: initial value problems as SciPy states them, stiff ones and events too.

Source: ``scipy.integrate.solve_ivp``. Shapes are known before a run, so the solution is given at the times of
``t_eval``, and of each event the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.trees import tree_map
from mlc.scipy.integrate.dormand_prince import Control, Slope
from mlc.scipy.integrate.events import Events, first_events
from mlc.scipy.integrate.odeint import METHODS, on_vectors, solution
from mlc.scipy.vectors import raveled

DEFAULT_STEPS = 10_000


class OdeResult(NamedTuple):
    """``y`` [n, len(t)] at the times ``t``, or a tree with the times last. ``status`` is 0 where the end was reached, 1
    after a terminal event, and -1 where it failed; ``success`` says that it did not. ``t_events`` [k] and ``y_events``
    [k, n] are the first occurrence of each event, NaN where there is none; None without events."""

    t: Array
    y: Any
    success: Array
    status: Array
    t_events: Array | None = None
    y_events: Any = None


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[Any],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    events: Any = None,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-3,
    atol: Any = 1e-6,
    max_steps: int = DEFAULT_STEPS,
    adjoint: bool | None = None,
) -> OdeResult:
    """The solution of ``dy/dt = fun(t, y, *args)`` from ``y(t_span[0]) = y0`` to ``t_span[1]``, in either direction.

    Args:
        fun: returns a tree like ``y``.
        t_span: first and last time.
        y0: a vector [n], or any tree of real arrays.
        method: "RK45" (Dormand and Prince), or "Rodas" for stiff equations, with a Jacobian [n, n] by forward mode.
        t_eval: times [m] within the span, in its direction; the two ends where it is not given.
        events: a function ``g(t, y, *args)``, or several, of which a change of sign is an event; as in SciPy an
            attribute ``terminal`` ends the solution there, and ``direction`` is 1 or -1 for one direction alone.
        rtol, atol: a step errs by at most ``atol + rtol |y|``; ``atol`` is a number, or one for each number of ``y0``.
        max_steps: between two times. Where more would be needed, values are NaN and ``status`` is -1.
        adjoint: derivatives by the adjoint equations, as ``odeint`` has them; the default for RK45. Stiff equations are
            unstable backwards in time, so those of Rodas go through the steps: reverse mode then has memory for
            ``max_steps`` of each time.

    Derivatives are by ``y0``, the times, ``args`` and what ``fun`` reads from around it; those of events follow from
    the implicit function theorem.

    Raises:
        InputError: another method, a span that is no pair, or ``fun`` returns another number of numbers.
    """
    if method not in METHODS:
        raise InputError(
            f"solve_ivp has no method {method!r}", hint=f"Give {' or '.join(METHODS)}; Rodas is for stiff ones"
        )
    if len(t_span) != 2:
        raise InputError(f"solve_ivp was given a span of {len(t_span)} times", hint="Give (first, last)")
    y, unravel = raveled(y0)
    first, last = (as_array(each).astype(y.dtype) for each in t_span)
    times = mnp.stack([first, last]) if t_eval is None else as_array(t_eval).astype(y.dtype)
    by_adjoint = method == "RK45" if adjoint is None else adjoint
    wide = atol if mnp.ndim(atol) == 0 else raveled(atol)[0].astype(y.dtype)
    control = Control(rtol, wide, max_steps, bounded=not by_adjoint, method=method)
    slope = on_vectors(lambda y, t, *args: fun(t, y, *args), y, unravel, args)
    solve: Solve = lambda times: solution(slope, y, times, control, by_adjoint)  # noqa: E731
    found = solve(mnp.concat([first[None], times]))[1:]
    ended = mnp.all(mnp.isfinite(found[-1]))
    if events is None:
        return _result(times, found, unravel, ended, mnp.where(ended, 0, -1))
    asked = Events.of(events, unravel, args)
    at, states = first_events(asked, slope, y, mnp.stack([first, last]), control, solve)
    end = asked.end(at, mnp.stack([first, last]))
    after = (times - end) * mnp.sign(last - first) > 0
    stopped = end != last
    status = mnp.where(stopped, 1, mnp.where(ended, 0, -1))
    made = _result(times, mnp.where(after[:, None], mnp.nan, found), unravel, ended | stopped, status)
    return made._replace(t_events=at, y_events=vmap(unravel)(states))


Solve = Callable[[Array], Array]


def _result(times: Array, found: Array, unravel: Callable[[Array], Any], ended: Array, status: Array) -> OdeResult:
    tree = vmap(unravel)(found)
    return OdeResult(times, tree_map(lambda x: mnp.moveaxis(x, 0, -1), tree), ended, status)


__all__ = ["OdeResult", "Slope", "solve_ivp"]
