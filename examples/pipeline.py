"""A pipeline of scikit-learn as a C library: trained, converted, compiled and compared.

    pip install scikit-learn skl2onnx
    python -m examples.pipeline [--to pipeline.c]

Measurements of cells of a tumour are scaled, projected on principal components, and classified by a support vector
machine with probabilities. The library needs libc alone; with --to its sources are written, with a Makefile.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import mlc


def trained() -> tuple[Any, np.ndarray[Any, Any]]:
    """The pipeline, and samples [171, 30] that it has not seen."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.decomposition import PCA
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x, y = load_breast_cancer(return_X_y=True)
    seen, unseen, labels, _ = train_test_split(x.astype(np.float32), y, test_size=0.3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), PCA(10), SVC(probability=True, random_state=0))
    return pipeline.fit(seen, labels), unseen


def converted(pipeline: Any, columns: int) -> bytes:
    """The pipeline as an ONNX model, for any number of samples."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    given = [("x", FloatTensorType([None, columns]))]
    model: bytes = to_onnx(pipeline, initial_types=given, options={"zipmap": False}).SerializeToString()
    return model


def size(folder: Path, pattern: str = "*") -> int:
    """Bytes of files."""
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file())


def written(model: bytes, folder: Path, name: str) -> Path:
    """The library (.so) or the sources (.c) of a model, by the command line."""
    (folder / "pipeline.onnx").write_bytes(model)
    command = [sys.executable, "-m", "mlc", "-q", "compile", str(folder / "pipeline.onnx"), "-o", str(folder / name)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, help="a folder for the sources, pipeline.c")
    to = parser.parse_args().to
    pipeline, samples = trained()
    model = converted(pipeline, samples.shape[1])
    labels, probabilities = mlc.compile(model)(samples)
    expected = pipeline.predict_proba(samples)
    print(f"{np.mean(labels == pipeline.predict(samples)):.0%} of {len(labels)} labels are scikit-learn's;",
          f"probabilities differ by {np.abs(probabilities - expected).max():.0e}")  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        folder = to.parent if to else Path(place)
        sources = written(model, folder, to.name if to else "pipeline.c")
        own = sum(size(sources, pattern) for pattern in ("model.c", "kernels_*.c"))
        library = written(model, Path(place), "pipeline.so")
        print(f"{own / 1000:.0f} kB of generated C, {size(sources) / 1000:.0f} kB with the runtime and weights;",
              f"the library has {library.stat().st_size / 1000:.0f} kB")  # fmt: skip


if __name__ == "__main__":
    main()
