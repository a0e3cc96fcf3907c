"""Lowering of scalar expressions to ``arith`` and ``math`` operations, for all callers.

``max(x0 * 2, 0)`` → ``arith.mulf``, ``arith.maximumf``. Unsigned elements are signless integers, on which unsigned
operations compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.expr import (
    CASTS,
    COMPARISONS,
    PREDICATES,
    REINTERPRETATIONS,
    Call,
    Const,
    Expr,
    ExprError,
    Index,
    Load,
    parse,
    walk,
)
from mlc.dialects.types import (
    ELEMENTS,
    ITEMSIZE,
    float_type,
    integer_type,
    is_float,
    is_narrow,
    is_unsigned,
    numpy_dtype,
)
from mlc.passes.kernel.lowering import narrow

# fn -> (float, signed, unsigned) operation classes
BINARY: dict[str, tuple[Any, Any, Any]] = {
    "add": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "sub": (arith.SubfOp, arith.SubiOp, arith.SubiOp),
    "mul": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "div": (arith.DivfOp, arith.DivSIOp, arith.DivUIOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "pow": (math.PowFOp, math.IPowIOp, math.IPowIOp),
    "atan2": (math.Atan2Op, None, None),
    "fmod": (None, arith.RemSIOp, arith.RemUIOp),
    "floordiv": (None, arith.FloorDivSIOp, arith.DivUIOp),
    "and_": (None, arith.AndIOp, arith.AndIOp),
    "or_": (None, arith.OrIOp, arith.OrIOp),
    "xor": (None, arith.XOrIOp, arith.XOrIOp),
    "shl": (None, arith.ShLIOp, arith.ShLIOp),
    "shr": (None, arith.ShRSIOp, arith.ShRUIOp),
}
_UNARY: dict[str, Any] = {
    "exp": math.ExpOp,
    "log": math.LogOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
    "expm1": math.ExpM1Op,
    "log1p": math.Log1pOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "round": math.RoundEvenOp,
    "trunc": math.TruncOp,
    "neg": arith.NegfOp,
}
_CMPF = dict(zip(COMPARISONS, ("oeq", "une", "olt", "ole", "ogt", "oge"), strict=True))
_CMPI = dict(zip(COMPARISONS, ("eq", "ne", "slt", "sle", "sgt", "sge"), strict=True))
FLOAT_ONLY = frozenset({"isnan", "sigmoid"})
TRANSCENDENTAL = frozenset(
    {"exp", "log", "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh"}
    | {"atanh", "expm1", "log1p", "pow", "atan2", "sigmoid"}
)


def _with_factor(expr: Call) -> Call:
    """A sigmoid fused with its factor: ``x * sigmoid(y)`` is ``sigmoid(x, y)``, and ``sigmoid(y)`` is ``sigmoid(1,
    y)``."""
    match expr:
        case Call("mul", (x, Call("sigmoid", (y,)))) | Call("mul", (Call("sigmoid", (y,)), x)):
            return Call("sigmoid", (x, y))
        case Call("sigmoid", (y,)):
            return Call("sigmoid", (Const(1), y))
    return expr


def _untyped(expr: Expr) -> bool:
    """Whether an expression consists of constants alone, which get the type of the other operand."""
    match expr:
        case Const(value=value):
            return not isinstance(value, bool)
        case Call(fn=fn, args=args) if fn not in (*CASTS, *REINTERPRETATIONS, *PREDICATES):
            return all(_untyped(a) for a in args[fn == "where" :])
    return False


def _natural(args: tuple[Expr, ...]) -> str:
    """The element type of constants without a typed operand."""
    return "i64" if all(isinstance(c.value, int) for a in args for c in walk(a) if isinstance(c, Const)) else "f32"


def _power_of_two(x: SSAValue) -> int | None:
    """n where ``x`` is the constant 2**n: a division becomes a shift, because no vector unit divides integers."""
    match x.owner:
        case arith.ConstantOp(value=IntegerAttr(value=number)) if number.data > 0 and number.data.bit_count() == 1:
            return number.data.bit_length() - 1
    return None


def signless(element: str) -> Attribute:
    """The SSA type for values of ``element``: unsigned integers are signless, narrow types are bytes."""
    return IntegerType(ITEMSIZE[element] * 8) if _recasts(element) else ELEMENTS[element]


def _recasts(element: str) -> bool:
    """Whether elements in a buffer have another type than in registers."""
    return element.startswith("ui") or is_narrow(element)


class ScalarBuilder:
    """Appends the operations of an expression to a block.

    ``load(node)`` returns the value and element name of a load, ``index(name)`` an iterator or symbol of type
    ``index``. ``float8``: the target has an operation that widens floats of 8 bits; else integer operations do.
    """

    def __init__(
        self,
        block: Block,
        load: Callable[[Load], tuple[SSAValue, str]],
        index: Callable[[str], SSAValue],
        float8: bool = False,
    ):
        self.block, self.load, self.index, self.float8 = block, load, index, float8

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def build(self, expr: Expr, want: str | None = None) -> tuple[SSAValue, str]:
        """The value of ``expr`` and its element name; ``want`` types a bare constant."""
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

    def constant(self, value: float | int | bool, element: str) -> SSAValue:
        if is_float(element):
            return self.emit(arith.ConstantOp(FloatAttr(float(value), float_type(element))))
        if is_narrow(element):
            value, element = int(np.asarray(value, numpy_dtype(element)).view(np.uint8)), "ui8"
        type_ = integer_type(element)
        half = 1 << (type_.width.data - 1)
        wrapped = int(bool(value)) if half == 1 else (int(value) + half) % (2 * half) - half
        return self.emit(arith.ConstantOp(IntegerAttr(wrapped, type_)))

    def _args(self, args: tuple[Expr, ...], want: str | None) -> tuple[list[SSAValue], str]:
        """All arguments in one element type: typed ones determine it, constants adopt it."""
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
        special = getattr(self, f"_{expr.fn}", None)
        if special:
            return special(*args, element), element
        return self._plain(expr.fn, args, element), element

    def _plain(self, fn: str, args: list[SSAValue], element: str) -> SSAValue:
        if fn in BINARY:
            kind = 0 if is_float(element) else 2 if is_unsigned(element) else 1
            op = BINARY[fn][kind]
        else:
            op = _UNARY.get(fn) if is_float(element) else None
        if op is None:
            raise ExprError(f"{fn} is not defined on {element}")
        return self.emit(op(*args))

    def _compare(self, fn: str, args: list[SSAValue], element: str) -> SSAValue:
        if is_float(element):
            return self.emit(arith.CmpfOp(args[0], args[1], _CMPF[fn]))
        predicate = _CMPI[fn]
        if is_unsigned(element) and predicate[0] == "s":
            predicate = "u" + predicate[1:]
        return self.emit(arith.CmpiOp(args[0], args[1], predicate))

    def _select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(arith.SelectOp(condition, a, b))

    def _neg(self, x: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self._plain("neg", [x], element)
        return self._plain("sub", [self.constant(0, element), x], element)

    def _not_(self, x: SSAValue, element: str) -> SSAValue:
        return self.emit(arith.XOrIOp(x, self.constant(True if element == "i1" else -1, element)))

    def _abs(self, x: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self.emit(math.AbsFOp(x))
        return x if is_unsigned(element) else self._plain("max", [x, self._neg(x, element)], element)

    def _sign(self, x: SSAValue, element: str) -> SSAValue:
        zero, one = self.constant(0, element), self.constant(1, element)
        positive = self._compare("gt", [x, zero], element)
        if is_unsigned(element):
            return self._select(positive, one, zero)
        negative = self._compare("lt", [x, zero], element)
        return self._select(positive, one, self._select(negative, self.constant(-1, element), x))

    def _sigmoid(self, x: SSAValue, y: SSAValue, element: str) -> SSAValue:
        """x sigmoid(y) as x / (1 + exp(-y)), which saves a multiplication."""
        e = self.emit(math.ExpOp(self._neg(y, element)))
        return self.emit(arith.DivfOp(x, self.emit(arith.AddfOp(self.constant(1, element), e))))

    def _floordiv(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self.emit(math.FloorOp(self.emit(arith.DivfOp(a, b))))
        if (bits := _power_of_two(b)) is None:
            return self._plain("floordiv", [a, b], element)
        return self._plain("shr", [a, self.constant(bits, element)], element) if bits else a

    def _fmod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        if not is_float(element):
            return self._plain("fmod", [a, b], element)
        return self.emit(kernel.LanewiseOp("arith.remf", [a, b], {}, a.type))

    def _dot4(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        if element != "i32":
            raise ExprError(f"dot4 is not defined on {element}")
        return self.emit(kernel.LanewiseOp("dot4", [a, b], {}, a.type))

    def _mod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        """Python's modulo: the result has the divisor's sign, a zero too."""
        if is_float(element):
            return self._float_mod(a, b, element)
        if (bits := _power_of_two(b)) is not None:
            return self._plain("and_", [a, self.constant((1 << bits) - 1, element)], element)
        quotient = self._floordiv(a, b, element)
        return self._plain("sub", [a, self._plain("mul", [quotient, b], element)], element)

    def _float_mod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        rest, zero = self._fmod(a, b, element), self.constant(0, element)
        negative = self._compare("lt", [b, zero], element)
        differs = self.emit(arith.XOrIOp(self._compare("lt", [rest, zero], element), negative))
        signed = self._select(differs, self.emit(arith.AddfOp(rest, b)), rest)
        none = self._select(negative, self.constant(-0.0, element), zero)
        return self._select(self._compare("eq", [rest, zero], element), none, signed)

    def cast(self, value: SSAValue, source: str, target: str) -> tuple[SSAValue, str]:
        return (value if source == target else self._cast(value, source, target)), target

    def _reinterpret(self, value: SSAValue, source: str, target: str) -> tuple[SSAValue, str]:
        same = signless(source) == signless(target)
        return value if same else self.emit(arith.BitcastOp(value, signless(target))), target

    def _cast(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if self.float8 and source in kernel.WIDENING:
            wide = self.emit(kernel.LanewiseOp(kernel.WIDENING[source], [value], {}, ELEMENTS["f32"]))
            return self.cast(wide, "f32", target)[0]
        if is_narrow(source):
            return self.cast(*narrow.decode(self._formula, value, source), target)[0]
        if is_narrow(target):
            return narrow.encode(self._formula, self.cast(value, source, narrow.wide(target))[0], target)
        if target == "i1":
            return self._compare("ne", [value, self.constant(0, source)], source)
        if is_float(source) and is_float(target):
            return self._cast_float(value, source, target)
        if is_float(source):
            to_int = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
            return self.emit(to_int(value, integer_type(target)))
        if is_float(target):
            to_float = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
            return self.emit(to_float(value, float_type(target)))
        return self._cast_int(value, source, target)

    def _formula(self, text: str, *values: tuple[SSAValue, str]) -> tuple[SSAValue, str]:
        """The value of an expression in Python syntax, in which x0, x1, … name ``values``."""
        return ScalarBuilder(self.block, lambda load: values[load.operand], self.index).build(parse(text))

    def _cast_int(self, value: SSAValue, source: str, target: str) -> SSAValue:
        wide, narrow = integer_type(target), integer_type(source)
        if wide == narrow:
            return value
        if wide.width.data < narrow.width.data:
            return self.emit(arith.TruncIOp(value, wide))
        return self.emit((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(value, wide))

    def _cast_float(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if ITEMSIZE[target] > ITEMSIZE[source]:
            return self.emit(arith.ExtFOp(value, float_type(target)))
        if ITEMSIZE[target] < ITEMSIZE[source]:
            return self.emit(arith.TruncFOp(value, float_type(target)))
        return self._cast_float(self.emit(arith.ExtFOp(value, float_type("f32"))), "f32", target)  # f16 <-> bf16

    def to_index(self, expr: Expr) -> SSAValue:
        """An integer expression as a value of type ``index``."""
        if isinstance(expr, Index):
            return self.index(expr.name)
        value, element = self.build(expr, "i64")
        if element != "i32":
            value, _ = self.cast(value, element, "i64")
        return self.emit(arith.IndexCastOp(value, IndexType()))

    def strip_sign(self, value: SSAValue, element: str) -> SSAValue:
        """An unsigned or narrow element (of a buffer) as the signless integer with the same bits."""
        return self._recast(value, signless(element)) if _recasts(element) else value

    def restore_sign(self, value: SSAValue, element: str) -> SSAValue:
        return self._recast(value, ELEMENTS[element]) if _recasts(element) else value

    def _recast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        return self.emit(UnrealizedConversionCastOp.get([value], [type_]))


def region_of(text: str, elements: Sequence[str]) -> Block:
    """A block that computes an expression last, over arguments x0, x1, … of ``elements``."""
    block = Block(arg_types=[signless(e) for e in elements])

    def no_iterator(name: str) -> SSAValue:
        raise ExprError(f"{text!r} has no iterator {name}")

    values = [*zip(block.args, elements, strict=True)]
    ScalarBuilder(block, lambda load: values[load.operand], no_iterator).build(parse(text))
    return block


__all__ = ["ScalarBuilder", "TRANSCENDENTAL", "region_of", "signless"]
