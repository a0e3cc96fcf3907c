"""Lowering of scalar expressions to ``arith`` and ``math`` operations.

``max(x0 * 2, 0)`` → ``arith.mulf``, ``arith.maximumf``. Unsigned elements are signless integers with unsigned
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue

from mlc.dialects.semantics.expr import (
    CASTS,
    COMPARISONS,
    PREDICATES,
    REINTERPRETATIONS,
    RESULTS,
    Call,
    Const,
    Expr,
    ExprError,
    Index,
    Load,
    parse,
    walk,
)
from mlc.dialects.types import ELEMENTS, is_float, is_narrow
from mlc.passes.kernel.lowering.casts import Casts, signless
from mlc.passes.kernel.lowering.scalar_functions import ScalarFunctions
from mlc.passes.kernel.lowering.scalar_ops import FLOAT_ONLY


def _with_factor(expr: Call) -> Call:
    """Fuse a sigmoid with its factor: ``x * sigmoid(y)`` becomes ``sigmoid(x, y)``, and ``sigmoid(y)`` becomes
    ``sigmoid(1, y)``."""
    match expr:
        case Call("mul", (x, Call("sigmoid", (y,)))) | Call("mul", (Call("sigmoid", (y,)), x)):
            return Call("sigmoid", (x, y))
        case Call("sigmoid", (y,)):
            return Call("sigmoid", (Const(1), y))
    return expr


def _untyped(expr: Expr) -> bool:
    """Return whether an expression consists of constants alone, which get the type of the other operand."""
    match expr:
        case Const(value=value):
            return not isinstance(value, bool)
        case Call(fn=fn, args=args) if fn not in (*CASTS, *REINTERPRETATIONS, *PREDICATES):
            return all(_untyped(a) for a in args[fn == "where" :])
    return False


def _natural(args: tuple[Expr, ...]) -> str:
    """Return the element type of constants without a typed operand."""
    return "i64" if all(isinstance(c.value, int) for a in args for c in walk(a) if isinstance(c, Const)) else "f32"


COMPOSED = ("floordiv", "mod", "sigmoid")
"""The functions that need several operations, each of which would round."""


class ScalarBuilder(ScalarFunctions, Casts):
    """A builder that appends the operations of an expression to a block.

    ``load(node)`` returns the value and element name of a load, ``index(name)`` an iterator or symbol of type
    ``index``. ``float8``: the target has an operation that widens floats of 8 bits; otherwise
    integer operations widen them.
    """

    def __init__(
        self,
        block: Block,
        load: Callable[[Load], tuple[SSAValue, str]],
        index: Callable[[str], SSAValue],
        float8: bool = False,
    ):
        self.block, self.load, self.index, self.float8 = block, load, index, float8

    def build(self, expr: Expr, want: str | None = None) -> tuple[SSAValue, str]:
        """Return the value of ``expr`` and its element type; ``want`` is the type of a bare constant."""
        match expr:
            case Const(value=value):
                element = want or ("i1" if isinstance(value, bool) else "f32" if isinstance(value, float) else "i64")
                return self.constant(value, element), element
            case Index(name=name):
                return self.emit(arith.IndexCastOp(self.index(name), ELEMENTS["i64"])), "i64"
            case Load():
                return self.load(expr)
        if expr.fn in CASTS:
            return self.cast(*self.build(expr.args[0], expr.fn if isinstance(expr.args[0], Const) else None), expr.fn)
        if expr.fn in REINTERPRETATIONS:
            return self._reinterpret(*self.build(expr.args[0]), REINTERPRETATIONS[expr.fn])
        return self._call(expr, want)

    def _args(self, args: tuple[Expr, ...], want: str | None) -> tuple[list[SSAValue], str]:
        """Return all arguments in one element type, and the type: typed arguments determine it, constants adopt it."""
        built = {n: self.build(a, want) for n, a in enumerate(args) if not _untyped(a)}
        element = next((e for _, e in built.values()), want or _natural(args))
        values = [built[n][0] if n in built else self.build(a, element)[0] for n, a in enumerate(args)]
        return values, element

    def _call(self, expr: Call, want: str | None) -> tuple[SSAValue, str]:
        if expr.fn == "where":
            condition, _ = self.build(expr.args[0], "i1")
            (a, b), element = self._args(expr.args[1:], want)
            return self.emit(arith.SelectOp(condition, a, b)), element
        expr = _with_factor(expr)
        args, element = self._args(expr.args, None if expr.fn in COMPARISONS else want)
        if is_narrow(element):
            raise ExprError(f"no function computes in {element}")
        if expr.fn in FLOAT_ONLY and not is_float(element):
            raise ExprError(f"{expr.fn} is not defined on {element}")
        if expr.fn in COMPARISONS:
            return self._compare(expr.fn, args, element), "i1"
        if expr.fn == "isnan":
            return self.emit(arith.CmpfOp(args[0], args[0], "uno")), "i1"
        if expr.fn in COMPOSED and element in ("f16", "bf16"):  # the steps are in f32, and rounded once
            wide = [self.cast(x, element, "f32")[0] for x in args]
            return self.cast(getattr(self, f"_{expr.fn}")(*wide, "f32"), "f32", element)
        special = getattr(self, f"_{expr.fn}", None)
        if special:
            return special(*args, element), RESULTS.get(expr.fn, element)
        return self._plain(expr.fn, args, element), element

    def _formula(self, text: str, *values: tuple[SSAValue, str]) -> tuple[SSAValue, str]:
        """Return the value of an expression in Python syntax, in which x0, x1, … name ``values``."""
        return ScalarBuilder(self.block, lambda load: values[load.operand], self.index).build(parse(text))

    def to_index(self, expr: Expr) -> SSAValue:
        """Return an integer expression as a value of type ``index``."""
        if isinstance(expr, Index):
            return self.index(expr.name)
        value, element = self.build(expr, "i64")
        if element != "i32":
            value, _ = self.cast(value, element, "i64")
        return self.emit(arith.IndexCastOp(value, IndexType()))


def region_of(text: str, elements: Sequence[str]) -> Block:
    """Return a block whose last operation computes the expression ``text`` over arguments x0, x1, … of types
    ``elements``."""
    block = Block(arg_types=[signless(e) for e in elements])

    def no_iterator(name: str) -> SSAValue:
        raise ExprError(f"{text!r} has no iterator {name}")

    values = [*zip(block.args, elements, strict=True)]
    ScalarBuilder(block, lambda load: values[load.operand], no_iterator).build(parse(text))
    return block
