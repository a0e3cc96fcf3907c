from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "passes" / "graph"))  # helpers of the page that adds a pass
