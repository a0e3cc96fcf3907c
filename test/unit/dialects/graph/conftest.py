from __future__ import annotations

import sys
from pathlib import Path

UNIT = Path(__file__).parents[2]
sys.path += [str(UNIT / folder) for folder in ("passes", "passes/graph", "dialects/autodiff")]
