"""No pass holds a number of a machine: what a schedule counts on is a fact of the target, or follows from one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3] / "passes"

ALLOWED = {
    "assumed_extents.py SCHEDULED LONG TYPICAL PLANNED": "assumed values of symbolic dimensions",
    "fuse/autodiff/rematerialize.py ROUNDS ATTEMPTS": "search effort",
    "fuse/autodiff/saving/budget.py OPERATORS": "compile time",
    "fuse/autodiff/saving/budget.py PRODUCTS FUNCTION KERNEL": "ratios: bytes that others are worth, for comparisons",
    "fuse/autodiff/saving/budget.py SMALL": "a ratio: the part of the bytes alive that is worth a kernel",
    "fuse/autodiff/saving/elementwise.py LARGEST": "compile time",
    "codegen/c_like/c_ops.py _CMPF_UNORDERED": "an enumeration of MLIR",
    "codegen/c_like/c_types.py WIDTHS": "vector types of mlc_vec.h, the same for every target",
    "codegen/cpu/c_body.py LAUNCHES": "compile time",
    "codegen/cpu/c_dim_functions.py BYTE_WORK": "the unit of SHARED_WORK in mlc_team.c, the same for every artifact",
    "codegen/cpu/c_kernel.py TABLE": "what 4 bits can index",
    "codegen/cpu/register_arrays.py VARIABLES": "registers that every target has",
    "codegen/cpu/shared_bodies.py SHORT OFFSETS": "compile time, and offsets that every target has registers for",
    "codegen/cuda/thread/cuda_memory.py WARP_BITS": "the threads of a warp, the same for every GPU of CUDA",
    "codegen/emit_c.py FILE_BYTES": "compile time",
    "cost/block_time.py WARPGROUP": "the instruction of CUDA (wgmma): warps of a warpgroup",
    "cost/block_time.py KEYS": "the format of parts: uneven ones begin at multiples",
    "cost/block_time.py HALF FLOAT": "bytes of an element",
    "cost/cache_blocks.py FLOAT": "bytes of an element",
    "cost/cache_blocks.py TILES": "a ratio: how often a panel is read",
    "cost/calibration.py RANGE": "search effort",
    "distribute/rules/windows.py FAR AT LONG": "sample blocks, from which a window is read off and then proved",
    "device/distribute_values.py WINDOW WORD": "a ratio: offsets of one buffer of a window; bytes of a register",
    "device/loops/pipelined_copies.py CHUNKS": "the instructions of CUDA, the same for every GPU that has them",
    "device/bulk/consumer_order.py GROUPS": "two alternate, as in CUTLASS",
    "device/bulk/cluster_copies.py BLOCKS SWIZZLED": "the clusters that are tested, and the format of boxes",
    "device/set_launch_geometry.py MOST_BLOCKS": "the format of a launch",
    "device/set_launch_geometry.py COPY_REGISTERS REGISTER_STEP MOST_REGISTERS": "the instruction of CUDA (setmaxnreg)",
    "shared_memory.py ROW SWIZZLED": "the banks of shared memory, and what a thread accesses at most",
    "device/use_warpgroups.py ROWS": "the instruction of CUDA: rows of its operands",
    "device/distribution/warpgroup.py WARPS ROWS BLOCK CHUNK PHASE": "the instruction of CUDA, and its layouts",
    "device/distribution/tensor_box.py ROW CHUNK PHASE": "the format of tensor maps",
    "device/distribution/fragments.py LANES": "the threads of a warp, the same for every GPU of CUDA",
    "device/distribution/swizzle.py CHUNK PHASE": "the banks of shared memory, the same for every GPU of CUDA",
    "device/use_tensor_cores.py BANK_PADDING": "the banks of shared memory, the same for every GPU of CUDA",
    "device/asynchronous/store_by_tma.py BUFFERS SIZES": "a double buffer, and what a thread writes two of at once",
    "codegen/cuda/thread/bulk_stores.py ACROSS": "the instruction of CUDA (stmatrix): columns of its matrices",
    "device/stage_operands.py FRAGMENT": "the steps of mma.m16n8k16, the same for every GPU of CUDA",
    "device/loops/staged_products.py NEIGHBOURS": "the instruction of CUDA (cp.async): halves that it copies",
    "device/loops/staged_reads.py WORD": "the instruction of CUDA (cp.async): the fewest bytes",
    "device/loops/staged_reads.py REUSE": "a ratio: how often an element is read",
    "device/loops/staged_reads.py BANKS": "the banks of shared memory, the same for every GPU of CUDA",
    "device/loops/staged_reads.py TRANSPOSED": "the same, with rows that begin at 16 bytes",
    "plan/outline_loops.py OPERATIONS": "compile time",
    "graph/fold_constants.py INLINE_FLOATS INLINE_INTEGERS EAGER limit": "what is printed, and when",
    "graph/fold_constants.py WEIGHT_LIMIT": "the size of a weights file",
    "graph/patterns/masks.py MASK_LIMIT": "the size of a weights file",
    "fuse/split_concats.py operands": "compile time: as OPERATORS",
    "fuse/grouping/attention.py STREAMED_ROWS": "ratios: how often keys are read, as ROWS of streaming",
    "fuse/grouping/kernel_order.py LARGE": "bytes that are worth a barrier, where orders are compared",
    "fuse/grouping/groups.py OPERATORS SCALARS": "compile time: isl compares all pairs of a kernel's statements",
    "graph/fuse_maps.py READERS NODES DEPTH operands": "work that is done again, and the size of expressions",
    "graph/fuse_stencils.py BOXES WINDOWS": "compile time: loop nests of a kernel",
    "graph/integer_products.py LARGEST": "products of bytes, exactly",
    "graph/patterns/contract_patterns.py DOT": "a ratio of two counts of operations; the graph stage knows no target",
    "graph/patterns/stencil_chains.py BETWEEN NODES": "accesses of an element, and the size of expressions",
    "graph/patterns/quantized.py WORD DEPTH FLIP": "the format of bytes in words",
    "kernel/lower_kernels.py CHEAP_OPS DEPTH": "operations that are computed again, and the depth of expressions",
    "layout/blocking/padding_values.py LIMIT": "compile time",
    "layout/blocking/block_sizes.py PACKED_POSITIONS": "a ratio: how often a packed weight is read",
    "layout/blocking/block_sizes.py COPIED FEW": "the instruction of CUDA (cp.async): halves that it copies",
    "layout/pack_operands.py TRANSPOSED_ROWS rows": "ratios: how often a panel is read",
    "layout/pack_weights.py FEW_COLUMNS": "a ratio: of a panel, how much is padding",
    "layout/winograd_gradients.py FLOAT gain": "the bytes of an element, and what an error is worth",
    "codegen/cuda/cuda_kernel.py UNROLLED": "operands in registers that any GPU has",
    "layout/winograd.py gain": "what an error is worth",
    "cost/winograd_time.py FLOAT": "the bytes of an element",
    "layout/blocking/packed_products.py PAIR": "the format of bf16 in words",
    "layout/factors/round_blocks.py CHUNK BYTE FOUR MOST": "the instruction of four bytes, and the range of one",
    "layout/factors/round_blocks.py NIBBLE ONES": "the format of integers of 4 bits, and of four bytes in a word",
    "layout/factors/round_factors.py TERMS COLUMNS": "ratios: what rounding the left operand and padding are worth",
    "layout/factors/round_factors.py FASTER": "a ratio: two products of a pair, and what an error is worth",
    "loops/body/prefetch.py POINT FINE FEW INSTRUCTIONS": "fixed-point numbers, a ratio of rows to tiles, and of code",
    "loops/body/rolled_steps.py FEWEST": "the size of code",
    "loops/body/tile_body.py UNROLLED LONG_STEP": "the size of code: a 3 x 3 window, and a step worth a loop",
    "plan/program/arena.py ALIGN": "the format of artifacts",
    "plan/program/offsets.py ENOUGH VISITS STALE": "search effort",
    "rewriter.py CAP": "search effort",
    "cost/load_imbalance.py PAIR": "the model of partitions: one of two threads stands for all",
    "schedule/collapse_iterators.py ROW_VECTORS": "a ratio: what a partial vector at the end of a row may cost",
    "schedule/partition_parallel_loops.py REACH LEAD": "search effort",
    "loops/body/tile_values.py SHORT": "offsets of 32 bits",
    "loops/roll_epilogues.py LONG": "the size of code",
    "loops/reductions/long_sums.py CHUNK SHORT SHORT_BLOCKS": "rounding errors of sums",
    "cost/nest_time.py GROUP_ROWS": "the instruction of warpgroups: wgmma.m64",
    "fuse/expand_winograd.py gain": "what an error is worth",
    "schedule/gpu/tensor_cores.py ROW": "the instruction of CUDA: rows of its operands",
    "schedule/gpu/stream_blocks.py HALF_FULL": "the rows of mma.m16n8k16, the same for every GPU of CUDA",
    "schedule/polyhedral/bounded.py ISL_OPERATIONS": "search effort",
    "schedule/rules/partial_sums.py SUM_BLOCK UNCUT": "rounding errors of sums",
    "schedule/rules/contraction.py LEAST_BLOCK LESS": "rounding errors of sums, and a ratio of bytes read",
    "schedule/rules/register_tiles.py FEWER": "search effort",
    "schedule/rules/register_tiles.py UNPACKED": "a ratio: operations of unpacking and scaling a vector",
    "schedule/rules/streaming.py ROWS": "a ratio: how often a block of rows reads its operands",
    "schedule/rules/window.py VECTOR_STRIDES SMALL_TERMS FEW_TERMS": "strides of gathers, and terms of a window",
    "schedule/rules/window.py STRIDED_ROWS GATHERED_ROWS": "rows of a window that share what they read",
}
"""Numbers above 1 at the top of modules and classes of passes, with what they bound."""


def numbers(path: Path) -> Iterator[str]:
    """Names of a module, or of fields of its classes, whose value is a number above 1 or has one in a tuple."""
    tree = ast.parse(path.read_text())
    inner = [node for each in tree.body if isinstance(each, ast.ClassDef) for node in each.body]
    for node in (*tree.body, *inner):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if any(isinstance(value, float | int) and value > 1 for value in map(number, values)):
                yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def number(value: ast.expr) -> object:
    """The value of a constant, of arithmetic on constants, or None."""
    if not all(isinstance(n, ast.Constant | ast.BinOp | ast.operator) for n in ast.walk(value)):
        return None
    return eval(compile(ast.Expression(value), "", "eval"))


def test_numbers_of_passes_are_listed_with_their_reason() -> None:
    found = {f"{path.relative_to(ROOT)} {name}" for path in ROOT.rglob("*.py") for name in numbers(path)}
    allowed = {f"{key.split()[0]} {name}" for key in ALLOWED for name in key.split()[1:]}
    assert found <= allowed, f"facts of a machine belong to CpuTarget; say why these do not: {sorted(found - allowed)}"
    assert allowed <= found, f"gone: {sorted(allowed - found)}"


def test_no_size_of_a_cache_stands_in_an_expression() -> None:
    """Sizes are written as shifts; what shifts by a constant and is no format of numbers is one."""
    formats = ("kernel/lowering/", "codegen/", "graph/", "loops/body/prefetch.py", "device/distribution/")
    for path in ROOT.rglob("*.py"):
        name = str(path.relative_to(ROOT))
        operations = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.BinOp)]
        shifts = [node for node in operations if isinstance(node.op, ast.LShift)]
        assert not shifts or name.startswith(formats), name


def test_the_check_sees_a_constant(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("L2 = 1 << 20\nA, B = 16, x\nclass P:\n    row: int = 448 * 1024\nNAME = 'text'\nONE = 1\n")
    assert list(numbers(file)) == ["L2", "A", "B", "row"]


def test_passes_ask_for_facts_and_not_for_the_class_of_a_target() -> None:
    """Only ``context.py`` does, which gives a pass for one kind of machine the facts of that kind."""
    for path in ROOT.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        asked = [ast.unparse(node) for node in calls if ast.unparse(node.func) == "isinstance" and len(node.args) == 2]
        found = [text for text in asked if text.endswith("Target)") or "Target |" in text or "| GpuTarget" in text]
        assert not found or path.name == "context.py", f"{path.relative_to(ROOT)}: {found}"
