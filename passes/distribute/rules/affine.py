"""Index expressions as text of isl: quasi-affine ones, by their iterators."""

from __future__ import annotations

from mlc.dialects.semantics.expr import Call, Const, Expr, Index

_CASTS = ("i64", "i32")
_SIGNS = {"add": "+", "sub": "-"}


def isl_text(expr: Expr) -> str | None:
    """Return an index as text of isl; None where it is not quasi-affine, such as a loaded one."""
    match expr:
        case Index(name=name):
            return name
        case Const(value=int(value)):
            return str(int(value))
        case Call(fn=fn, args=(inner,)) if fn in _CASTS:
            return isl_text(inner)
        case Call(fn="neg", args=(inner,)):
            return _joined("(-({}))", isl_text(inner))
        case Call(fn="add" | "sub" as fn, args=(a, b)):
            return _joined(f"({{}} {_SIGNS[fn]} {{}})", isl_text(a), isl_text(b))
        case Call(fn="mul", args=(a, b)) if _number(a) is not None or _number(b) is not None:
            return _joined("({} * {})", isl_text(a), isl_text(b))
        case Call(fn="floordiv" | "mod" as fn, args=(a, b)) if (divisor := _number(b)) is not None and divisor > 0:
            return _joined(f"floor(({{}})/{divisor})" if fn == "floordiv" else f"(({{}}) mod {divisor})", isl_text(a))
    return None


def _joined(form: str, *parts: str | None) -> str | None:
    return None if None in parts else form.format(*parts)


def _number(expr: Expr) -> int | None:
    """Return the value of an expression of constants alone."""
    match expr:
        case Const(value=int(value)):
            return int(value)
        case Call(fn="add" | "sub" | "mul" as fn, args=(a, b)):
            left, right = _number(a), _number(b)
            if left is None or right is None:
                return None
            return {"add": left + right, "sub": left - right, "mul": left * right}[fn]
    return None
