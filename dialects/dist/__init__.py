"""The ``dist`` dialect: how the tensors of a graph are divided among the ranks of a mesh, for one mesh axis at a time.

Between a frontend, which says how arguments are divided, and the collectives of ``comm``.
"""

from xdsl.ir import Dialect

from mlc.dialects.dist.mesh import MeshAttr, ShardingAttr
from mlc.dialects.dist.operators import ReshardOp, ShardOp
from mlc.dialects.dist.states import PartialAttr, SplitAttr, State, WholeAttr, WindowAttr

Dist = Dialect(
    "dist",
    [ShardOp, ReshardOp],
    [MeshAttr, ShardingAttr, WholeAttr, SplitAttr, PartialAttr, WindowAttr],
)

MESH = "dist.mesh"
"""The attribute of a module: its mesh."""
SHARDING = "dist.sharding"
"""The attribute of an argument or result of the main function: how it is divided; without it that is inferred."""
INFERRED = "dist.inferred"
"""The attribute of an argument that the user has not divided: how propagation divides it."""
EXTENT, PARTS = "dist.extent", "dist.parts"
"""The attribute of an argument without elements: the extent of the whole that its shape gives; and of a main function:
for the names of sizes of blocks the extents that are divided, and by which axes."""
OPERANDS, RESULT, WHY = "dist.operands", "dist.result", "dist.why"
"""The attributes of an operator along one mesh axis: the states that it reads, the state that it makes, and why."""
DIVIDES = "dist.divides_weights"
"""The attribute of a module: the blocks of weights that ranks read are weights of these ranks."""
LETS_GO = "dist.lets_go"
"""The attribute of a change of state of an argument, of which no reader keeps the result for later ones (ZeRO-3)."""
PLAN, PLANNED = "dist.plan", "dist.planned"
"""The attribute of a module: a plan as text; and of an operator: the states that the plan says, for each mesh axis."""

__all__ = [
    "Dist", "MeshAttr", "ShardingAttr", "ShardOp", "ReshardOp", "WholeAttr", "SplitAttr", "PartialAttr", "WindowAttr",
    "State", "MESH", "SHARDING", "INFERRED", "OPERANDS", "RESULT", "WHY",
    "DIVIDES", "PLAN", "PLANNED", "LETS_GO", "EXTENT", "PARTS",
]  # fmt: skip
