"""Scalar expressions: the language of operator semantics.

``parse("max(x0[i, k] * x1[k, j], 0)", ("i", "j", "k"))`` reads Python syntax: ``x<n>[...]`` is an element of operand
n, a name is an iterator (or a symbolic dimension), a call is a scalar function of :data:`FUNCTIONS`, a macro, a cast
(``f32(x0)``), or a reinterpretation of bits (``as_f32(x0)``). An expression is a tree of small immutable nodes;
operators fuse by substitution of loads and iterators.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.utils.exceptions import VerifyException

from mlc.dialects.types import ELEMENTS, STRING, bit_width, is_narrow
from mlc.expressions import parse_expression


class ExprError(VerifyException, ValueError):
    """An error: a text is not a scalar expression."""


class NarrowError(ExprError):
    """An error: a function is applied to elements of a narrow type."""


@dataclass(frozen=True)
class Const:
    value: int | float | bool

    def __str__(self) -> str:
        if isinstance(self.value, float):
            return {"inf": "inf", "-inf": "(-inf)", "nan": "nan"}.get(repr(self.value), repr(self.value))
        return repr(self.value)


@dataclass(frozen=True)
class Index:
    """An iterator of the statement, or a symbolic dimension, as an integer."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Load:
    """An element of operand ``operand``; ``index`` is None if an elementwise operator broadcasts the operand."""

    operand: int
    index: tuple[Expr, ...] | None = None

    def __str__(self) -> str:
        at = "" if self.index is None else f"[{', '.join(map(str, self.index)) or '()'}]"
        return f"x{self.operand}{at}"


@dataclass(frozen=True)
class Call:
    fn: str
    args: tuple[Expr, ...]

    def __str__(self) -> str:
        if self.fn in _SYMBOLS and len(self.args) == 2:
            return f"({self.args[0]} {_SYMBOLS[self.fn]} {self.args[1]})"
        return f"{self.fn}({', '.join(map(str, self.args))})"


Expr = Const | Index | Load | Call

FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "floordiv", "mod", "fmod", "max", "min", "pow", "atan2"), 2),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor", "shl", "shr"), 2),
    "dot4": 2,  # the dot product of four unsigned bytes and four signed ones, each four packed in an i32
    "dot2_i16": 2,  # the dot product of two pairs of i16, each pair packed in an i32
    "dot2": 2,  # the dot product, in f32, of two pairs of bf16, each pair packed in an i32
    "dot2x2": 2,  # as dot4, of the lower and of the upper two bytes: two i16, which saturate, packed in an i32
    "add2": 2,  # the sums of two pairs of i16, each pair packed in an i32
    "sum2": 1,  # the sum of the two i16 in an i32
    **dict.fromkeys(("neg", "not_", "abs", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "tan"), 1),
    **dict.fromkeys(("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("expm1", "log1p", "log2", "log10", "erfc", "sigmoid"), 1),
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "isnan", "sign"), 1),
    "where": 3,
}
CASTS = tuple(e for e in ELEMENTS if e != STRING)
# The bits of a value as another element of the same width; not for predicates and complex numbers.
REINTERPRETATIONS = {f"as_{e}": e for e in CASTS if e != "i1" and e[0] != "c"}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
CHEAP = {"add", "sub", "mul", "max", "min", "neg", "abs", "where", "and_", "or_", "xor", "not_", *COMPARISONS, *CASTS}
"""Functions that cost no more than reading their operands."""
PREDICATES = (*COMPARISONS, "isnan")
RESULTS = {**dict.fromkeys(PREDICATES, "i1"), "dot2": "f32"}
"""The element types of functions whose results have another one than their operands."""
REAL = frozenset(
    ("exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh")
    + ("acosh", "atanh", "expm1", "log1p", "log2", "log10", "erfc", "sigmoid", "isnan", "atan2")
)
"""Functions that exist only for floats."""
_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
}
# A macro is a function defined by an expression in its parameters x0, x1, ...
MACROS = {
    "relu": "max(x0, 0)",
    "clip": "min(max(x0, x1), x2)",
    "square": "x0 * x0",
    "reciprocal": "1 / x0",
    "softplus": "max(x0, 0) + log1p(exp(where(x0 > 0, -x0, x0)))",  # -abs(x0), but smooth at 0 (scalar.py)
    "isinf": "abs(x0) == inf",
}
_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


@lru_cache(maxsize=4096)
def parse(text: str) -> Expr:
    """Parse a scalar expression.

    Raises:
        ExprError: not valid, or an unknown function or a wrong number of arguments.
    """
    try:
        return _parse(parse_expression(text))
    except SyntaxError as e:
        raise ExprError(f"{text!r} is not a scalar expression: {e.msg}") from e


def _operand(name: str) -> int | None:
    return int(name[1:]) if name[0] == "x" and name[1:].isdigit() else None


def _parse(node: ast.expr) -> Expr:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return Const(value)
        case ast.Name(id="inf" | "nan" as name):
            return Const(float(name))
        case ast.Name(id=name):
            operand = _operand(name)
            return Index(name) if operand is None else Load(operand)
        case ast.Subscript(value=ast.Name(id=name), slice=index) if (operand := _operand(name)) is not None:
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            return Load(operand, tuple(_parse(i) for i in items))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            negated = _parse(operand)
            return Const(-negated.value) if isinstance(negated, Const) else Call("neg", (negated,))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Call(_BINARY[type(op)], (_parse(left), _parse(right)))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return Call(_COMPARE[type(op)], (_parse(left), _parse(right)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, tuple(_parse(a) for a in args))
    raise ExprError(f"{ast.unparse(node)!r} is not a scalar expression")


def _call(name: str, args: tuple[Expr, ...]) -> Expr:
    arity = _arity(name)
    if arity != len(args):
        wrong = "unknown function" if arity is None else f"takes {arity}"
        raise ExprError(f"{name} with {len(args)} arguments: {wrong}")
    if name in MACROS:
        return substitute(parse(MACROS[name]), lambda load: args[load.operand])
    return Call(name, args)


def _arity(name: str) -> int | None:
    """Return the number of arguments of a function; None for an unknown function."""
    if name in MACROS:
        return 1 + max(load.operand for load in loads(parse(MACROS[name])))
    return 1 if name in CASTS or name in REINTERPRETATIONS else FUNCTIONS.get(name)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Call(args=args):
            return args
        case Load(index=index):
            return index or ()
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield every node, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def height(expr: Expr) -> int:
    """Return the number of nodes on the longest path from the root to a leaf."""
    level, count = [expr], 0
    while level:
        level, count = [child for node in level for child in children(node)], count + 1
    return count


def loads(expr: Expr) -> list[Load]:
    return [node for node in walk(expr) if isinstance(node, Load)]


def substitute(
    expr: Expr, load: Callable[[Load], Expr] | None = None, index: Callable[[Index], Expr] | None = None
) -> Expr:
    """Replace every load and every index, innermost first."""
    match expr:
        case Index() if index:
            return index(expr)
        case Load(index=None) if load:
            return load(expr)
        case Load(operand=operand, index=at) if at is not None:
            new = Load(operand, tuple(substitute(i, load, index) for i in at))
            return load(new) if load else new
        case Call(fn=fn, args=args):
            return Call(fn, tuple(substitute(a, load, index) for a in args))
    return expr


def replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    """Return ``expr`` with ``new`` in place of each subexpression ``old``."""
    if expr == old:
        return new
    return Call(expr.fn, tuple(replaced(a, old, new) for a in expr.args)) if isinstance(expr, Call) else expr


def rename_operands(expr: Expr, position: Sequence[int]) -> Expr:
    """Replace each operand ``n`` by operand ``position[n]``."""
    return substitute(expr, lambda load: Load(position[load.operand], load.index))


def element_type(expr: Expr, operands: Sequence[str]) -> str | None:
    """Return the element type of an expression, given the types of its operands; None for an untyped constant.

    Raises:
        ExprError: two operands of one function differ in type (casts are explicit), or a reinterpretation changes the
            width.
    """
    match expr:
        case Const(value=value):
            return "i1" if isinstance(value, bool) else None
        case Index():
            return "i64"
        case Load(operand=n):
            return operands[n]
        case Call(fn=fn) if fn in CASTS:
            return fn
    args = [element_type(a, operands) for a in expr.args[expr.fn == "where" :]]
    known = {a for a in args if a is not None}
    if len(known) > 1:
        raise ExprError(f"{expr} mixes {sorted(known)}; insert a cast")
    if expr.fn in REINTERPRETATIONS:
        return _reinterpreted(expr, known)
    return RESULTS.get(expr.fn) or (known.pop() if known else None)


def verify_computes(expr: Expr, operands: Sequence[str]) -> None:
    """Check that narrow elements are only cast, reinterpreted and selected.

    Raises:
        NarrowError: another function has an operand of a narrow type.
    """
    calls = [n for n in walk(expr) if isinstance(n, Call)]
    if not any(map(is_narrow, (*operands, *(c.fn for c in calls)))):
        return
    for node in (c for c in calls if not _moves(c.fn)):
        for element in (element_type(a, operands) for a in node.args):
            if element is not None and is_narrow(element):
                raise NarrowError(f"no function computes in {element}; cast the operands of {node.fn}, as in f32(x0)")


def _moves(fn: str) -> bool:
    return fn in CASTS or fn in REINTERPRETATIONS or fn == "where"


def _reinterpreted(expr: Call, operands: set[str]) -> str:
    target = REINTERPRETATIONS[expr.fn]
    for element in operands:
        if bit_width(element) != bit_width(target):
            bits = f"{bit_width(element)} bits of {element} as the {bit_width(target)} of {target}"
            raise ExprError(f"{expr} reads the {bits}")
    return target
