"""Operators of ONNX's own domain that read at computed indices or are built at import."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from single import agrees, single

from mlc.frontends.onnx import UnsupportedError, import_model


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 7, 7), (5, 1, 1), (4, 2, 2)])
def test_det(rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    x = rng.standard_normal(shape).astype("f4")
    agrees("Det", {"x": x}, wanted=[np.linalg.det(x.astype("f8")).astype("f4")], rtol=1e-4)


def test_det_of_matrices_that_need_pivoting_or_are_singular() -> None:
    x = np.array(
        [[[0, 1, 0], [1, 0, 0], [0, 0, 3]], [[1, 2, 3], [2, 4, 6], [1, 1, 1]], [[0, 0, 2], [0, 0, 1], [0, 5, 1]]]
    )
    agrees("Det", {"x": x.astype("f4")}, wanted=[np.array([-3, 0, 0], "f4")])


def test_det_of_other_matrices_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="square"):
        import_model(single("Det", {"x": np.ones((2, 3), "f4")}))


def test_constants_beyond_those_with_a_sign() -> None:
    agrees("Cast", {"x": np.array([-9, 3, 1 << 62])}, constants=["x"], to=TensorProto.UINT64)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8", "u4", "f2", "f8"])
def test_shrink(rng: np.random.Generator, dtype: str) -> None:
    x = (9 * rng.standard_normal((3, 17))).astype("i1" if dtype[0] != "u" else "u1").astype(dtype)
    agrees("Shrink", {"x": x}, lambd=2.5, bias=1.25)


@pytest.mark.parametrize(("mode", "axis"), [("linear", -2), ("circular", 1), ("circular", -1)])
def test_tensor_scatter(rng: np.random.Generator, mode: str, axis: int) -> None:
    cache, shape = rng.standard_normal((3, 5, 7)).astype("f4"), [3, 5, 7]
    shape[axis] = 2
    update, starts = rng.standard_normal(shape).astype("f4"), np.array([0, 3, 2], np.int64)
    if mode == "circular":
        starts[1] = cache.shape[axis] - 1
    wanted = cache.copy()
    moved, new = np.moveaxis(wanted, axis, 1), np.moveaxis(update, axis, 1)
    for b in range(3):
        for s in range(2):
            moved[b, (starts[b] + s) % moved.shape[1]] = new[b, s]
    agrees("TensorScatter", {"c": cache, "u": update, "s": starts}, wanted=[wanted], version=24, mode=mode, axis=axis)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("window", [True, False])
def test_stft(rng: np.random.Generator, onesided: int, window: bool) -> None:
    x, step = rng.standard_normal((2, 45, 1)).astype("f4"), np.array(7, np.int64)
    shape = rng.random(11).astype("f4") if window else None
    length = np.array(11, np.int64)
    inputs = {"x": x, "step": step, "window": shape, "length": length}
    agrees("STFT", inputs, version=17, constants=["step", "length"], onesided=onesided)


def test_stft_of_complex_signals(rng: np.random.Generator) -> None:
    x, step, window = rng.standard_normal((2, 40, 2)), np.array(9, np.int64), rng.random(16)
    frames = np.stack([x[:, s : s + 16] for s in range(0, 25, 9)], 1)
    spectrum = np.fft.fft((frames[..., 0] + 1j * frames[..., 1]) * window)
    wanted = np.stack([spectrum.real, spectrum.imag], -1).astype("f4")
    inputs = {"x": x.astype("f4"), "step": step, "window": window.astype("f4")}
    agrees("STFT", inputs, wanted=[wanted], version=17, constants=["step"], onesided=0)


@pytest.mark.parametrize("values", [(8, 16, 8192, 0.0, 4096.0), (13, 512, 16000, 80.0, 7600.0)])
def test_mel_weight_matrix(values: tuple[float, ...]) -> None:
    arrays = [np.array(v, np.int64 if n < 3 else np.float32) for n, v in enumerate(values)]
    inputs = dict(zip("abcde", arrays, strict=True))
    agrees("MelWeightMatrix", inputs, version=17, constants=list("abcde"))


@pytest.mark.parametrize(
    ("channels", "filters", "group", "offset_group", "mask", "how"),
    [
        (2, 3, 1, 1, False, {}),
        (4, 6, 2, 2, True, {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]}),
        (6, 3, 3, 2, True, {"pads": [1, 1, 1, 1]}),
    ],
)
def test_deform_conv(
    rng: np.random.Generator, channels: int, filters: int, group: int, offset_group: int, mask: bool, how: dict
) -> None:
    x = rng.standard_normal((2, channels, 7, 9)).astype("f4")
    w = rng.standard_normal((filters, channels // group, 3, 2)).astype("f4")
    strides, dilations, pads = how.get("strides", [1, 1]), how.get("dilations", [1, 1]), how.get("pads", [0] * 4)
    out = [
        (x.shape[2 + n] + pads[n] + pads[n + 2] - dilations[n] * (w.shape[2 + n] - 1) - 1) // strides[n] + 1
        for n in range(2)
    ]
    offset = (2 * rng.standard_normal((2, offset_group * 12, *out))).astype("f4")
    bias = rng.standard_normal(filters).astype("f4")
    scale = rng.random((2, offset_group * 6, *out)).astype("f4") if mask else None
    inputs = {"x": x, "w": w, "offset": offset, "b": bias, "mask": scale}
    agrees("DeformConv", inputs, constants=["w", "b"], group=group, offset_group=offset_group, **how)


TRAINING = "ai.onnx.preview.training"


@pytest.mark.parametrize("mode", ["standard", "nesterov"])
@pytest.mark.parametrize("count", [0, 3])
def test_momentum(rng: np.random.Generator, mode: str, count: int) -> None:
    x, g, v = rng.standard_normal((3, 4, 5)).astype("f4")
    how = {"alpha": 0.9, "beta": 0.7, "norm_coefficient": 0.01}
    slope = g + 0.01 * x
    new = 0.9 * v + (0.7 if count else 1) * slope
    wanted = x - 0.1 * (slope + 0.9 * new if mode == "nesterov" else new)
    inputs = {"r": np.array(0.1, "f4"), "t": np.array(count, np.int64), "x": x, "g": g, "v": v}
    agrees("Momentum", inputs, 2, wanted=[wanted, new], domain=TRAINING, mode=mode, **how)


def test_adagrad_of_two_tensors(rng: np.random.Generator) -> None:
    xs, gs = rng.standard_normal((2, 4)).astype("f4"), rng.standard_normal((2, 4)).astype("f4")
    hs = rng.random((2, 4)).astype("f4")
    new = hs + gs * gs
    moved = xs - 0.1 / (1 + 2 * 0.3) * gs / (np.sqrt(new) + np.float32(1e-3))
    inputs = {"r": np.array(0.1, "f4"), "t": np.array(2, np.int64)}
    inputs |= {f"{kind}{n}": a[n] for kind, a in (("x", xs), ("g", gs), ("h", hs)) for n in range(2)}
    wanted = [*moved.astype("f4"), *new]
    agrees("Adagrad", inputs, 4, wanted=wanted, domain=TRAINING, decay_factor=0.3, epsilon=1e-3)


@pytest.mark.parametrize("count", [0, 5])
def test_adam(rng: np.random.Generator, count: int) -> None:
    x, g, v = rng.standard_normal((3, 6))
    h = rng.random(6)
    mean, square = 0.8 * v + 0.2 * g, 0.95 * h + 0.05 * g * g
    rate = 0.1 * np.sqrt(1 - 0.95**count) / (1 - 0.8**count) if count else 0.1
    moved = 0.9 * (x - rate * mean / (np.sqrt(square) + 1e-4))
    arrays = {n: a.astype("f4") for n, a in (("x", x), ("g", g), ("v", v), ("h", h))}
    inputs = {"r": np.array(0.1, "f4"), "t": np.array(count, np.int64), **arrays}
    how = {"alpha": 0.8, "beta": 0.95, "epsilon": 1e-4, "norm_coefficient_post": 0.1}
    wanted = [a.astype("f4") for a in (moved, mean, square)]
    agrees("Adam", inputs, 3, wanted=wanted, domain=TRAINING, **how)


@pytest.mark.parametrize("lengths", [None, (2, 4, 3)])
def test_scan_of_opset_8(rng: np.random.Generator, lengths: tuple[int, ...] | None) -> None:
    """A running sum, backwards; what lies after a short sequence is zero."""
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("s", "e", "n", "o")]
    nodes = [helper.make_node("Add", ["s", "e"], ["n"]), helper.make_node("Identity", ["n"], ["o"])]
    body = helper.make_graph(nodes, "body", info[:2], info[2:])
    start, x = rng.standard_normal((3, 2)).astype("f4"), rng.standard_normal((3, 4, 2)).astype("f4")
    outs, last = np.zeros((3, 4, 2), "f4"), start.copy()
    for b, steps in enumerate(lengths or [4] * 3):
        for s in range(steps):
            last[b] = outs[b, s] = last[b] + x[b, steps - 1 - s]
    lens = None if lengths is None else np.array(lengths, np.int64)
    inputs = {"lens": lens, "s": start, "x": x}
    how = {"body": body, "num_scan_inputs": 1, "directions": [1], "constants": ["lens"] if lengths else []}
    agrees("Scan", inputs, 2, wanted=[last, outs], version=8, **how)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
def test_known_sizes_of_one_ratio(rng: np.random.Generator, policy: str) -> None:
    """What onnx's own tests compute at run time is known here at import."""
    inputs = {"x": rng.standard_normal((4, 6)).astype("f4"), "roi": None, "scales": None, "sizes": np.array([9, 8])}
    agrees("Resize", inputs, version=19, constants=["sizes"], mode="linear", keep_aspect_ratio_policy=policy)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_unsigned_comparisons(rng: np.random.Generator, dtype: str) -> None:
    """Half of the numbers have the bit that is a sign elsewhere; two are equal."""
    x, y = (rng.integers(0, np.iinfo(dtype).max, 37, dtype=dtype, endpoint=True) for _ in range(2))
    y[:2] = x[:2]
    functions = {"Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater, "Equal": np.equal}
    for op, function in functions.items():
        agrees(op, {"x": x, "y": y}, wanted=[function(x, y)])


def test_split_divides_the_first_dimension(rng: np.random.Generator) -> None:
    agrees("Split", {"x": rng.standard_normal((4, 6)).astype("f4")}, 2, version=13)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_all_but_zero_is_true(dtype: str) -> None:
    x = np.array([0.5, -0.25, 0.0, -0.0, np.nan, -np.inf, np.finfo(dtype).tiny, 3, 300, 65280] * 2, dtype)
    agrees("Cast", {"x": x}, wanted=[x != 0], to=TensorProto.BOOL)


def test_the_mask_of_an_old_dropout_is_of_its_inputs_type(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 5)).astype("f4")
    agrees("Dropout", {"x": x}, 2, wanted=[x, np.ones_like(x)], version=7)
    agrees("Dropout", {"x": x}, 2, wanted=[x, np.ones(x.shape, bool)], version=10)


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
def test_negative_indices_of_32_bits(rng: np.random.Generator, op: str) -> None:
    agrees(op, {"x": rng.standard_normal((5, 3)).astype("f4"), "i": np.array([[-1, 2, -5], [4, -3, 0]], "i4")})


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
@pytest.mark.parametrize("divisor", [-4, 4, -3])
def test_modulo_of_a_known_divisor(rng: np.random.Generator, dtype: str, divisor: int) -> None:
    x = rng.integers(-99, 99, 37).astype(dtype)
    agrees("Mod", {"x": x, "y": np.array(divisor, dtype)}, wanted=[np.mod(x, divisor)], constants=["y"])


def test_the_sign_of_what_is_no_number() -> None:
    x = np.array([np.nan, -np.inf, -0.0, 0.0, 1e-40, 3] * 3, "f4")
    agrees("Sign", {"x": x}, wanted=[np.sign(x)])


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
def test_integers_are_divided_towards_zero(rng: np.random.Generator, dtype: str) -> None:
    x, y = rng.integers(-99, 99, 37).astype(dtype), (rng.integers(1, 9, 37) * rng.choice([-1, 1], 37)).astype(dtype)
    agrees("Div", {"x": x, "y": y}, wanted=[np.trunc(x / y).astype(dtype)])


def test_the_greatest_of_the_least_integers() -> None:
    x = np.full((3, 21), -128, "i1")
    x[0, 20] = -127
    agrees("ReduceMax", {"x": x, "axes": np.array([1])}, wanted=[x.max(1, keepdims=True)], constants=["axes"])
