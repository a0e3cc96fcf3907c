"""``python test/cuda/emulated_smoke.py [ROW…]``: the smoke rows of ``python -m benchmarks.gpu``, emulated.

All take eight minutes on a busy machine; the suite runs a sample (test_gpu_smoke.py). Ends with 1 where one is wrong.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import fake_gpu

from mlc.tools.cuda_device import Device

sys.path.insert(0, str(Path(__file__).parents[2]))  # for the benchmarks


def main(names: list[str], target: str = "cuda:sm_90") -> int:
    from benchmarks.gpu import smoke

    with tempfile.TemporaryDirectory() as folder:
        driver, emulation = fake_gpu.build(Path(folder))
        os.environ |= {"MLC_NVCC": str(fake_gpu.HERE / "fake_nvcc.py"), "FAKE_EMULATION": str(emulation)}
        fake_gpu.Gpu(driver, emulation)
        device, wrong = Device(), 0
        for name, measure in smoke.measured(device, target):
            if names and name not in names:
                continue
            start, row = time.monotonic(), measure()
            wrong += not row["right"]
            print(f"{name}: {row}, {time.monotonic() - start:.1f} s", flush=True)
        device.close()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
