"""Kernels whose C differs in numbers alone share a body, unless that would cost time at run time."""

from __future__ import annotations

import pytest

from mlc.passes.codegen.cpu.shared_bodies import SHORT, shared_bodies

FUNCTION = """void {symbol}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {{
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t v1 = (8 - 0);
  for (int64_t v2 = v1 * tid / threads; v2 < v1 * (tid + 1) / threads; v2++) {{
    const int64_t v3 = 0 + v2 % (8 - 0);
    for (int64_t v4 = 0; v4 < 16; v4 += 1) {{
      {inner}
{more}    }}
  }}
}}
"""
MORE = "".join(f"      mlc_prefetch(b0 + v{n});\n" for n in range(10, 10 + SHORT))


def functions(*inner: str, more: str = MORE) -> dict[str, str]:
    """A kernel for each statement of an innermost loop."""
    return {f"k_{n}": FUNCTION.format(symbol=f"k_{n}", inner=line, more=more) for n, line in enumerate(inner)}


@pytest.mark.parametrize(
    ("first", "second", "arguments"),
    [
        ("int64_t v5 = v4 * 288;", "int64_t v5 = v4 * 576;", ["int64_t mlc_n[] = {576}"]),
        ("int64_t v5 = v4 * (-6);", "int64_t v5 = v4 * (-7);", ["int64_t mlc_n[] = {7}"]),
        ("f32x8 v5 = v6 * mlc_fill_f32x8(0.5f);", "f32x8 v5 = v6 * mlc_fill_f32x8(1e-05f);",
         ["float mlc_f[] = {1e-05f}"]),
        ("double v5 = v6 + 2.0;", "double v5 = v6 + 2.5;", ["double mlc_d[] = {2.5}"]),
        ("i8x16 v5 = v6 - mlc_fill_i8x16(-3);", "i8x16 v5 = v6 - mlc_fill_i8x16(-128);", ["int64_t mlc_n[] = {128}"]),
        ("f32x8 v5 = mlc_load_f32x8(b0 + v4 + 64) * 2.0f;", "f32x8 v5 = mlc_load_f32x8(b0 + v4 + 96) * 3.0f;",
         ["int64_t mlc_n[] = {96}", "float mlc_f[] = {3.0f}"]),
        ("mlc_store_f32x8(b1 + v4 + 8 * v3, v5);", "mlc_store_f32x8(b1 + v4 + 24 * v3, v5);",
         ["int64_t mlc_n[] = {24}"]),
    ],
)  # fmt: skip
def test_numbers_become_arguments(first: str, second: str, arguments: list[str]) -> None:
    (text,) = shared_bodies(functions(first, second)).values()
    assert text.count("static __attribute__((noinline)) void") == 1 and text.count("\nvoid k_") == 2
    assert text.count("b0 + v10") == 1, "one body"
    second_caller = text[text.index("void k_1(") :]
    assert [line for line in arguments if f"static const {line};" not in second_caller] == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("f32x8 v5 = v6 / mlc_fill_f32x8(2.0f);", "f32x8 v5 = v6 / mlc_fill_f32x8(4.0f);"),  # products by the inverse
        ("f32x8 v5 = mlc_pow_f32x8(v6, mlc_fill_f32x8(2.0f));", "f32x8 v5 = mlc_pow_f32x8(v6, mlc_fill_f32x8(3.0f));"),
        ("int64_t v5 = mlc_floordiv_i64(v4, 8);", "int64_t v5 = mlc_floordiv_i64(v4, 16);"),  # a shift
        ("i32x8 v5 = mlc_div_i32x8(v6, mlc_fill_i32x8(4));", "i32x8 v5 = mlc_div_i32x8(v6, mlc_fill_i32x8(8));"),
        ("_Alignas(64) float v5[512];", "_Alignas(64) float v5[1024];"),
        ("f32x8 v5 = MLC_SHUFFLE(f32x8, v6, v6, 0, 1, 2, 3);", "f32x8 v5 = MLC_SHUFFLE(f32x8, v6, v6, 1, 1, 2, 3);"),
        ("static const float v5[] = {1.0f};", "static const float v5[] = {2.0f};"),
        ("int32_t v5 = v6 / 3;", "int32_t v5 = v6 / 5;"),
    ],
)
def test_what_the_compiler_must_know_keeps_kernels_apart(first: str, second: str) -> None:
    kernels = functions(first, second)
    assert shared_bodies(kernels) == kernels


def test_offsets_in_an_innermost_loop_have_registers() -> None:
    def loads(step: int, count: int) -> str:
        return "".join(f"f32x8 w{n} = mlc_load_f32x8(b0 + v4 + {n * step});" for n in range(1, count + 1))

    few, many = functions(loads(8, 3), loads(24, 3)), functions(loads(8, 4), loads(24, 4))
    assert len(shared_bodies(few)) == 1 and shared_bodies(many) == many
    flat = {symbol: text.replace("    for (", "    if (1) for (") for symbol, text in few.items()}
    assert shared_bodies(flat) == flat, "a body without loops has no registers for them"


def test_others_stay_as_they_are() -> None:
    short = functions("int64_t v5 = v4 * 288;", "int64_t v5 = v4 * 576;", more="")
    assert shared_bodies(short) == short
    others = functions("int64_t v5 = v4 * 288;", "int64_t v5 = v4 + v3 * 576;")
    assert shared_bodies(others) == others
    assert shared_bodies({}) == {}
