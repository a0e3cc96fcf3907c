"""Elementwise operations of ``arith`` and ``math`` as C expressions, for scalars and vector variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute

from mlc.dialects.kernel import WIDENING
from mlc.passes.codegen.c_like.c_types import Chunk, CodegenError, c_scalar, vector_name

_INFIX = {
    "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/", "arith.addi": "+", "arith.subi": "-",
    "arith.muli": "*", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^",
    "arith.shli": "<<", "arith.shrsi": ">>",
}  # fmt: skip
_DIVISION = {"arith.divsi": "div", "arith.remsi": "rem", "arith.floordivsi": "floordiv"}
_UNSIGNED_DIVISION = {"arith.divui": "div", "arith.remui": "rem"}
_MINMAX = {
    "arith.maximumf": ("maximum", False), "arith.minimumf": ("minimum", False), "arith.maxsi": ("maximum", False),
    "arith.minsi": ("minimum", False), "arith.maxui": ("maximum", True), "arith.minui": ("minimum", True),
}  # fmt: skip
_MATH = {
    "math.exp": "exp", "math.exp2": "exp2", "math.expm1": "expm1", "math.log": "log", "math.log2": "log2",
    "math.log10": "log10", "math.erfc": "erfc",
    "math.log1p": "log1p", "math.tanh": "tanh", "math.erf": "erf", "math.sin": "sin", "math.cos": "cos",
    "math.tan": "tan", "math.sinh": "sinh", "math.cosh": "cosh", "math.asin": "asin", "math.acos": "acos",
    "math.atan": "atan", "math.asinh": "asinh", "math.acosh": "acosh", "math.atanh": "atanh", "math.floor": "floor",
    "math.ceil": "ceil", "math.trunc": "trunc", "math.roundeven": "roundeven", "math.round": "round",
    "math.sqrt": "sqrt", "math.rsqrt": "rsqrt", "math.powf": "pow", "math.atan2": "atan2",
    "arith.remf": "fmod",
}  # fmt: skip
_CMPF = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 6: "!=", 8: "==", 9: ">", 10: ">=", 11: "<", 12: "<=", 13: "!="}
_CMPF_UNORDERED = 14
_CMPI = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}
_WIDE_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_CASTS = {
    "arith.extf", "arith.truncf", "arith.fptosi", "arith.fptoui", "arith.sitofp", "arith.uitofp", "arith.extsi",
    "arith.extui", "arith.trunci", "arith.index_cast",
}  # fmt: skip
HALF = "f16"


def expression(
    name: str, args: Sequence[str], source: str, result: str, chunk: Chunk, properties: Mapping[str, Attribute]
) -> str:
    """Return C for the operation ``name`` on variables ``args`` of element type ``source``, with results of type
    ``result``.

    Raises CodegenError for an operation or element type without C code.
    """
    vector = chunk.width > 1
    if name == "arith.bitcast":
        return _bitcast(args[0], source, result, chunk)
    short = _short(source, result, chunk) or _short(result, source, chunk)
    if short and name != "arith.select":
        return _by_float(short, name, args, source, result, chunk, properties)
    if name in _INFIX:
        return _infix(name, args, source, vector)
    if name in _DIVISION:
        return f"mlc_{_DIVISION[name]}_{_suffix(source, chunk)}({args[0]}, {args[1]})"
    if name in _UNSIGNED_DIVISION or name == "arith.shrui":
        return _unsigned_op(name, args, source, chunk)
    if name in _MINMAX:
        return _minmax(*_MINMAX[name], args, source, chunk)
    if name in _MATH:
        return _math(_MATH[name], args, source, chunk)
    if name in ("arith.cmpf", "arith.cmpi"):
        return _compare(name, args, source, chunk, properties)
    if name in _CASTS:
        return _cast(name, args[0], source, result, chunk)
    if name == "arith.select":
        return _select(args, result, chunk)
    return _other(name, args, source, chunk)


def _other(name: str, args: Sequence[str], source: str, chunk: Chunk) -> str:
    match name:
        case "arith.negf":
            return f"-{args[0]}"
        case "math.absf":
            return f"mlc_abs_{_suffix(source, chunk)}({args[0]})"
        case "dot4" | "dot2" | "dot2_i16" | "dot2x2":  # its operands are the accumulator, then the factors
            sums = "f32" if name == "dot2" else "i32"
            zero = [f"({_type(sums, chunk)}){'{0}' if chunk.width > 1 else '0'}"] if len(args) == 2 else []
            return f"mlc_{name}_{_suffix(sums, chunk)}({', '.join([*zero, *args])})"
        case "add2" | "sum2":
            return f"mlc_{name}_{_suffix(source, chunk)}({', '.join(args)})"
        case _ if name in WIDENING.values():
            return f"mlc_widen_{name.partition('.')[2]}({args[0]})"
        case "math.ipowi":
            return f"mlc_ipow_{_suffix(source, chunk)}({args[0]}, {args[1]})"
    raise CodegenError(f"no C for {name} on {source}")


def _short(element: str, other: str, chunk: Chunk) -> str:
    """Return ``element`` if it is a 16-bit float without native operations. Scalars of half precision have native
    operations, and convert from and to double directly."""
    return element if element == "bf16" or element == HALF and chunk.width > 1 and other != "f64" else ""


def _by_float(
    short: str,
    name: str,
    args: Sequence[str],
    source: str,
    result: str,
    chunk: Chunk,
    properties: Mapping[str, Attribute],
) -> str:
    """Return an operation on 16-bit floats, computed in f32 and rounded."""
    if source == short:
        args, source = [f"mlc_widen_{_suffix(short, chunk)}({a})" for a in args], "f32"
    wide = "f32" if result == short else result
    plain = name in ("arith.extf", "arith.truncf") and source == wide
    text = args[0] if plain else expression(name, args, source, wide, chunk, properties)
    return f"mlc_narrow_{_suffix(short, chunk)}({text})" if result == short else text


def _type(element: str, chunk: Chunk) -> str:
    return vector_name(element, chunk.width) if chunk.width > 1 else c_scalar(element)


def _unsigned(element: str, chunk: Chunk) -> str:
    return f"u{element[1:]}x{chunk.width}" if chunk.width > 1 else f"u{c_scalar(element)}"


def _suffix(element: str, chunk: Chunk) -> str:
    return vector_name(element, chunk.width) if chunk.width > 1 else element


def _infix(name: str, args: Sequence[str], source: str, vector: bool) -> str:
    text = f"{args[0]} {_INFIX[name]} {args[1]}"
    # Small C integers promote to int: truncate to the width of the operation.
    return f"({c_scalar(source)})({text})" if not vector and source in ("i8", "i16", "f16") else text


def _unsigned_op(name: str, args: Sequence[str], source: str, chunk: Chunk) -> str:
    signed, unsigned = _type(source, chunk), _unsigned(source, chunk)
    a, b = (f"({unsigned}){x}" for x in args)
    if name == "arith.shrui":
        return f"({signed})({a} >> {b})"
    suffix = unsigned if chunk.width > 1 else f"u{source[1:]}"
    return f"({signed})mlc_{_UNSIGNED_DIVISION[name]}_{suffix}({a}, {b})"


def _minmax(fn: str, unsigned: bool, args: Sequence[str], source: str, chunk: Chunk) -> str:
    if source == "i1":
        return f"{args[0]} {'|' if fn == 'maximum' else '&'} {args[1]}"
    if not unsigned:
        return f"mlc_{fn}_{_suffix(source, chunk)}({', '.join(args)})"
    type_ = _unsigned(source, chunk)
    name = type_ if chunk.width > 1 else "u" + source[1:]
    return f"({_type(source, chunk)})mlc_{fn}_{name}(({type_}){args[0]}, ({type_}){args[1]})"


def _math(fn: str, args: Sequence[str], source: str, chunk: Chunk) -> str:
    if source != HALF:
        return f"mlc_{fn}_{_suffix(source, chunk)}({', '.join(args)})"
    wide = [_cast("arith.extf", a, HALF, "f32", chunk) for a in args]
    return _cast("arith.truncf", _math(fn, wide, "f32", chunk), "f32", HALF, chunk)


def _compare(name: str, args: Sequence[str], source: str, chunk: Chunk, properties: Mapping[str, Attribute]) -> str:
    attr = properties["predicate"]
    assert isinstance(attr, IntegerAttr)
    predicate = attr.value.data
    a, b = args
    if name == "arith.cmpf" and predicate == _CMPF_UNORDERED:
        return f"({_compared('!=', a, a, source, chunk)}) | ({_compared('!=', b, b, source, chunk)})"
    if source == "i1" and chunk.width > 1:
        a, b = b, a  # masks are 0 and -1: their order is reversed
    elif name == "arith.cmpi" and predicate >= 6 and source != "i1":
        a, b = (f"({_unsigned(source, chunk)}){x}" for x in (a, b))
        source = "u" + source[1:]
    return _compared((_CMPF if name == "arith.cmpf" else _CMPI)[predicate], a, b, source, chunk)


def _compared(sign: str, a: str, b: str, element: str, chunk: Chunk) -> str:
    """Return a predicate; for vectors it is a mask with lanes of 32 bits."""
    if chunk.width == 1 or element in ("f32", "i32", "u32", "i1"):
        return f"{a} {sign} {b}"
    if element in ("i64", "u64", "f64"):
        return f"mlc_{_WIDE_COMPARISONS[sign]}_{element}x{chunk.width}({a}, {b})"
    mask = f"{a} {sign} {b}"
    if element in ("i8", "u8"):
        return f"mlc_widen_i8x{chunk.width}({mask})"
    return f"__builtin_convertvector({mask}, i32x{chunk.width})"


def _byte_cast(name: str, arg: str, source: str, result: str, chunk: Chunk) -> str:
    """Return a cast between vectors of bytes and of longer elements, through i32: see mlc_int8.h."""
    if result == "i8":
        whole = arg if source == "i32" else _cast("arith.fptosi", arg, source, "i32", chunk)
        return f"mlc_narrow_i32x{chunk.width}({whole})"
    unsigned = name in ("arith.uitofp", "arith.extui")
    type_ = _unsigned(source, chunk) if unsigned else vector_name(source, chunk.width)
    wide = f"mlc_widen_{type_}(({type_}){arg})"
    return wide if result == "i32" else _cast("arith.sitofp", wide, "i32", result, chunk)


def _cast(name: str, arg: str, source: str, result: str, chunk: Chunk) -> str:
    if chunk.width > 1 and "i8" in (source, result) and {source, result} & {"i32", "f32", "i64", "f64"}:
        return _byte_cast(name, arg, source, result, chunk)
    if chunk.width == 1:
        unsigned = name in ("arith.uitofp", "arith.extui") and source != "i1"
        inner = f"(u{c_scalar(source)}){arg}" if unsigned else arg
        inner = f"(u{c_scalar(result)}){inner}" if name == "arith.fptoui" and result != "i1" else inner
        return f"({c_scalar(result)}){inner}" if result != "i1" else f"({inner}) & 1"
    target = vector_name(result, chunk.width)
    if source == "i1":
        arg = f"(-{arg})"
    elif name in ("arith.uitofp", "arith.extui"):
        arg = f"({_unsigned(source, chunk)}){arg}"
    if name == "arith.fptoui":
        return f"({target})__builtin_convertvector({arg}, {_unsigned(result, chunk)})"
    return f"__builtin_convertvector({arg}, {target})"


def _bitcast(arg: str, source: str, result: str, chunk: Chunk) -> str:
    """Return the bits of a float as an integer, or of an integer as a float."""
    if chunk.width > 1:
        return f"({vector_name(result, chunk.width)}){arg}"
    return f"MLC_BITS({c_scalar(source)}, {c_scalar(result)}, {arg})"


def _select(args: Sequence[str], result: str, chunk: Chunk) -> str:
    condition, yes, no = args
    if chunk.width == 1:
        return f"{condition} ? {yes} : {no}"
    if result == "i1":
        return f"({condition} & {yes}) | (~{condition} & {no})"
    name = vector_name(result, chunk.width)
    if result not in ("f32", "i32"):
        condition = f"__builtin_convertvector({condition}, {name}_m)"
    return f"mlc_blend_{name}({condition}, {yes}, {no})"
