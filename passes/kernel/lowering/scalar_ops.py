"""Scalar functions that are one operation of ``arith`` or ``math`` each.

``add`` is ``arith.addf`` on floats and ``arith.addi`` on integers. None: the function is not defined on the type.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, math

from mlc.dialects.semantics.expr import COMPARISONS

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
UNARY: dict[str, Any] = {
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
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "round": math.RoundEvenOp,
    "trunc": math.TruncOp,
    "neg": arith.NegfOp,
}
CMPF = dict(zip(COMPARISONS, ("oeq", "une", "olt", "ole", "ogt", "oge"), strict=True))
CMPI = dict(zip(COMPARISONS, ("eq", "ne", "slt", "sle", "sgt", "sge"), strict=True))
FLOAT_ONLY = frozenset({"isnan", "sigmoid"})
TRANSCENDENTAL = frozenset(
    {"exp", "log", "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh"}
    | {"atanh", "expm1", "log1p", "log2", "log10", "erfc", "pow", "atan2", "sigmoid"}
)
