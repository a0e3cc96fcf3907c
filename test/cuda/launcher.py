"""Runs a planned module for a GPU target with the kernels emulated on the CPU: a small host program in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from emulator import Emulator, Map
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from mlc import target
from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim
from mlc.dialects.types import bytes_of, element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.passes.codegen.emit_c import program_of
from mlc.pipelines.backends import backend_of

Array = np.ndarray[Any, Any]
STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")


class Program:
    """A graph module, lowered for a GPU and compiled for the emulator."""

    def __init__(self, module: ModuleOp, weights: WeightStore, folder: Path, **options: Any) -> None:
        chosen = Options(**{"target": target.get("cuda"), **options})
        run(module, weights, chosen, STAGES)
        self.program, self.weights = program_of(module), weights
        self.functions = {o.sym_name.data: o for o in module.ops if isinstance(o, kernel.FuncOp)}
        self.kernels = backend_of(chosen.target).print_kernels(module)
        self.emulator = Emulator(list(self.kernels.strings.values()), folder)
        self.state = dict[SSAValue, Array]()  # from run to run

    @classmethod
    def of(cls, model: onnx.ModelProto, folder: Path, **options: Any) -> Program:
        """The program of an ONNX model."""
        imported = OnnxSource.of(model).imported({})
        return cls(imported.module, imported.weights, folder, **options)

    def run(self, feed: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs for inputs by name."""
        return Run(self, feed).outputs()


class Run:
    """One run: ``feed`` has the inputs in order."""

    def __init__(self, made: Program, feed: Mapping[str, Array]) -> None:
        self.made, self.memory, self.dims = made, {}, dict[str, int]()
        self.conditions: dict[str, int] = {}
        self.arrays: dict[int, Array] = {}
        self.names = [n.data for n in made.program.inputs]
        self.feed = [np.array(feed[name], order="C") for name in self.names]
        self._bind()

    def _bind(self) -> None:
        """The values of symbolic dimensions, from the inputs' shapes; those without an input's are generous."""
        for op in (o for o in self.made.program.body.block.ops if isinstance(o, rt.InputOp)):
            for dim, size in zip(shape_of(op.result), self.feed[op.index.value.data].shape, strict=True):
                if not isinstance(dim, int) and str(dim).isidentifier():
                    self.dims[str(dim)] = size
        for name in (d.data for d in self.made.program.dims):
            self.dims.setdefault(name, 64)

    def value(self, dim: DimLike) -> int:
        return int(evaluate(dim, {**self.bounds(), **self.dims}))  # type: ignore[arg-type]

    def bounds(self) -> dict[str, int]:
        return {n: int(evaluate(b, self.dims)) for n, b in self.made.program.bound_of.items() if n not in self.dims}  # type: ignore[arg-type]

    def outputs(self) -> dict[str, Array]:
        self.block(self.made.program.body.block)
        found = {}
        for op in (o for o in self.made.program.body.block.ops if isinstance(o, rt.OutputOp)):
            shape = [self.value(d) for d in shape_of(op.result)]
            dtype = numpy_dtype(element_of(op.result))
            data = self.memory[op.result][: int(np.prod(shape)) * dtype.itemsize]
            found[self.made.program.outputs.data[op.index.value.data].data] = data.view(dtype).reshape(shape)
        return found

    def block(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case rt.InputOp():
                    self.memory[op.result] = self.feed[op.index.value.data].reshape(-1).view(np.uint8)
                case rt.WeightOp():
                    array = np.ascontiguousarray(self.made.weights[op.entry.data])
                    self.memory[op.result] = array.reshape(-1).view(np.uint8)
                case rt.OutputOp():
                    size = int(np.prod([self.value(d) for d in op.largest_shape]))
                    self.memory[op.result] = _garbage(size * numpy_dtype(element_of(op.result)).itemsize)
                case rt.BufferOp():
                    self.memory[op.result] = _garbage(self.value(parse_dim(op.bytes.data)))
                case rt.StateOp() if op.entry is None:
                    zeros = np.zeros(self.value(bytes_of(op.result)), np.uint8)
                    self.memory[op.result] = self.made.state.setdefault(op.result, zeros)
                case rt.RunCounterOp():
                    self.memory[op.result] = np.zeros(8, np.uint8)
                case rt.ViewOp():
                    self.memory[op.result] = self.memory[op.source][self.value(op.start) :]
                case rt.LaunchOp():
                    self.launch(op)
                case rt.CopyOp():
                    size = self.value(bytes_of(op.target))
                    self.memory[op.target][:size] = self.memory[op.source][:size]
                case rt.LoopOp():
                    self.loop(op)
                case rt.IfOp():
                    self.block((op.then if self.conditions[op.symbol.data] else op.otherwise).block)
                case rt.LoopConditionOp():
                    self.condition(op)
                case rt.NonzeroOp():
                    self.nonzero(op)
                case rt.SizeOp():
                    self.dims[op.symbol.data] = int(self.scalar(op.value, np.int64))
                    self.memory[op.size][:8] = np.int64(self.dims[op.symbol.data]).reshape(1).view(np.uint8)
                case rt.RoutineOp():
                    raise NotImplementedError(f"routine {op.fn.data}")

    def launch(self, op: rt.LaunchOp) -> None:
        name = op.callee.root_reference.data
        fn = self.made.functions[name]
        grid, threads = fn.launch.grid, fn.launch.launched
        assert grid is not None and threads is not None
        buffers = [(self.memory[a].ctypes.data, self.memory[a].nbytes) for a in op.args]
        sizes = [self.value(parse_dim(d)) for d in fn.symbols]
        blocks = max(1, self.value(grid))
        maps = [self.tensor_map(each, buffers[n][0]) for n, each in geometry_of(fn).maps]
        symbol = self.made.kernels.symbols[name]
        self.made.emulator.launch(symbol, buffers, sizes, blocks, threads, maps)

    def tensor_map(self, each: kernel.TensorMap, start: int) -> Map:
        extents = [max(1, self.value(e)) for e in each.extents]
        return Map(start, each.itemsize, extents, each.strides, each.box, each.span)

    def loop(self, op: rt.LoopOp) -> None:
        step, count = op.step.data, len(op.ping)
        n = 0
        while n < self.value(parse_dim(op.trips.data)) if op.trips is not None else self.conditions[step]:
            self.dims[step] = n
            for k in range(count):
                old = self.memory[op.first[k]] if n == 0 else self.memory[(op.ping if n % 2 else op.pong)[k]]
                self.memory[op.body.block.args[k]] = old
                self.memory[op.body.block.args[count + k]] = self.memory[(op.pong if n % 2 else op.ping)[k]]
            self.block(op.body.block)
            n += 1
        for k, result in enumerate(op.res):
            self.memory[result] = self.memory[op.first[k]] if not n else self.memory[(op.ping if n % 2 else op.pong)[k]]

    def condition(self, op: rt.LoopConditionOp) -> None:
        following = self.value(parse_dim(op.next.data))
        go = op.most is None or following < self.value(parse_dim(op.most.data))
        go = go and (op.limit is None or following < self.scalar(op.limit, np.int64))
        go = go and (op.active is None or bool(self.scalar(op.active, np.uint8)))
        self.conditions[op.symbol.data] = int(go)
        if op.count is not None:
            self.memory[op.count][:8] = np.int64(following).reshape(1).view(np.uint8)
        if op.size is not None:
            self.dims[op.size.data] = following

    def nonzero(self, op: rt.NonzeroOp) -> None:
        shape = [self.value(d) for d in shape_of(op.mask)]
        found = np.flatnonzero(self.memory[op.mask][: int(np.prod(shape))])
        self.memory[op.where][: found.size * 8] = found.astype(np.int64).view(np.uint8)
        self.dims[op.symbol.data] = found.size
        self.memory[op.size][:8] = np.int64(found.size).reshape(1).view(np.uint8)

    def scalar(self, value: SSAValue, dtype: Any) -> Any:
        return self.memory[value][: np.dtype(dtype).itemsize].view(dtype)[0]


def _garbage(size: int) -> Array:
    """Memory whose contents no result may depend on."""
    return np.full(max(size, 1), 0xCD, np.uint8)
