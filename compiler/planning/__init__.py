"""``mlc.planning``: plans of a partition that the compiler searches, by a cost model of computing, links and memory.

    step = mlc.jit(train_step, mesh=mlc.Mesh(data=2, model=4), shardings="auto", results="auto")
    step = mlc.jit(f, mesh=mesh, shardings=planning.Auto(memory=16 << 30, cluster=planning.read("cluster.toml")))
    step = mlc.jit(f, mesh=mesh, shardings=planning.Plan(Path("step.plan").read_text()))
"""

from mlc.planning.cluster import Cluster, Level, read
from mlc.planning.settings import Auto, Plan
from mlc.planning.stages import Stages, one_forward_one_backward, stages

__all__ = ["Auto", "Cluster", "Level", "Plan", "Stages", "one_forward_one_backward", "read", "stages"]
