"""Fourier transforms and complex inputs, outputs and parameters, against eager torch, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.export import Dim, export  # noqa: E402
from unit.frontends.torch_frontend.programs import assert_equal, evaluated  # noqa: E402

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
real, fft = torch.view_as_real, torch.fft


class SpectralConvolution(torch.nn.Module):
    """A layer of a Fourier neural operator: the lowest modes times complex weights, beside a pointwise one."""

    def __init__(self, channels: int = 3, modes: int = 3) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(0.3 * torch.randn(channels, channels, modes, dtype=torch.cfloat))
        self.local = torch.nn.Conv1d(channels, channels, 1)
        self.modes = modes

    def forward(self, x: Any) -> Any:
        spectrum = fft.rfft(x)
        low = torch.zeros_like(spectrum)
        low[:, :, : self.modes] = torch.einsum("bix,iox->box", spectrum[:, :, : self.modes], self.weight)
        return torch.nn.functional.gelu(fft.irfft(low, n=x.shape[-1]) + self.local(x))


def test_transforms() -> None:
    x = torch.randn(3, 4, 6)
    c = torch.complex(x, x.flip(0))
    window = torch.hann_window(8)
    functions = {
        "rfft": lambda x: real(fft.rfft(x, norm="ortho")),
        "rfft of n": lambda x: real(fft.rfft(x, n=9, dim=1)),
        "irfft": lambda x: fft.irfft(fft.rfft(x), n=5, norm="forward"),
        "fft of reals": lambda x: real(fft.fft(x)),
        "fft2": lambda x: real(fft.fft2(torch.complex(x, x + 1), norm="ortho")),
        "ifftn": lambda x: real(fft.ifftn(torch.complex(x, -x), dim=(0, 2))),
        "hfft": lambda x: fft.hfft(torch.complex(x, x * 2), n=7),
        "irfft2": lambda x: fft.irfft2(fft.rfft2(x), s=x.shape[-2:]),
        "shifted": lambda x: real(fft.fftshift(fft.fft(x), dim=-1)),
        "stft": lambda x: real(torch.stft(x.reshape(3, -1), 8, 4, window=window, return_complex=True)),
        "istft": lambda x: torch.istft(
            torch.stft(x.reshape(3, -1), 8, 4, window=window, return_complex=True), 8, 4, window=window, length=24
        ),
    }
    assert c.is_complex()
    for name, result in evaluated({name: (f, (x,)) for name, f in functions.items()}).items():
        print(name)
        assert_equal(result, 1e-4, 1e-5)


def test_complex_inputs_outputs_and_state() -> None:
    class Phased(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("phase", torch.ones(4, dtype=torch.cfloat))

        def forward(self, z: Any, x: Any) -> Any:
            self.phase.mul_(1j)
            return {"turned": z * self.phase, "size": (z + x).abs(), "root": torch.sqrt(z)}

    z, x = torch.randn(3, 4, dtype=torch.cfloat), torch.randn(3, 4)
    module = Phased()
    net = mlc.compile(export(module, (z, x)))
    for _ in range(2):
        wanted, found = module(z, x), net(z.conj().conj(), x)
        for key, y in wanted.items():
            torch.testing.assert_close(found[key], y)
    torch.testing.assert_close(net.state["phase"], module.phase)


def test_a_fourier_layer_by_export_with_a_symbolic_batch() -> None:
    module = SpectralConvolution().eval()
    net = mlc.compile(export(module, (torch.randn(2, 3, 16),), dynamic_shapes={"x": {0: Dim("batch")}}))
    x = torch.randn(5, 3, 16)
    torch.testing.assert_close(net(x), module(x), rtol=1e-4, atol=1e-5)


def test_a_transform_of_symbolic_length() -> None:
    class Filtered(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = fft.fft(x, norm="ortho")
            return fft.ifft(y * y.abs(), norm="forward").real, fft.rfft(x).abs()

    net = mlc.compile(export(Filtered(), (torch.randn(2, 16),), dynamic_shapes={"x": {1: Dim("n", min=4)}}))
    for n in (9, 16):
        x = torch.randn(2, n)
        torch.testing.assert_close(net(x), Filtered()(x), rtol=1e-4, atol=1e-4)


def test_a_fourier_layer_is_trained() -> None:
    x = torch.randn(2, 3, 16)
    module = SpectralConvolution()
    fast = torch.compile(module, backend="mlc", options={"fallback": False})
    (fast(x) ** 2).sum().backward()
    found = {name: p.grad.clone() for name, p in module.named_parameters()}
    module.zero_grad()
    (module(x) ** 2).sum().backward()
    for name, p in module.named_parameters():
        torch.testing.assert_close(found[name], p.grad, rtol=1e-3, atol=1e-4)
    function = mlc.function(export(module, (x,)))
    by = mlc.grad(lambda w: mnp.sum(function(x.numpy(), weights=w) ** 2))(function.weights)
    for name, p in module.named_parameters():
        np.testing.assert_allclose(np.asarray(by[name]), p.grad.numpy(), rtol=1e-3, atol=1e-4)
