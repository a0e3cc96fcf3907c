"""The main function as a graph for the search: nodes are arguments, operators and values that several readers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.dist import ShardingAttr, ShardOp
from mlc.dialects.graph import GraphOp
from mlc.dialects.semantics.interpreter import main_of, names
from mlc.dialects.types import STRING, element_of, shape_of
from mlc.passes.distribute.choice.written import sharding_of
from mlc.passes.distribute.rules.cost import bytes_of
from mlc.planning.codes import ALL, Joint, code_of
from mlc.planning.strategies import Option, arguments_of, constrained, options_of
from mlc.planning.ties import classes_of


@dataclass
class Value:
    """A tensor: its type, when it is made (-1: an argument) and last read, and who reads which operand."""

    x: SSAValue
    node: int
    made: int
    bytes: int
    readers: list[tuple[int, int]] = field(default_factory=list)
    last: int = -1
    updates: int | None = None
    """The argument that a result replaces, in its memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(shape_of(self.x))  # type: ignore[arg-type]


@dataclass
class Node:
    """An argument or operator; nodes of one ``kind`` get one choice. ``options`` are those of the first of its kind."""

    kind: int
    name: str
    op: Operation | None
    values: list[int] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


class Graph:
    """Nodes 0 … are the arguments, then the operators in the order of the program."""

    def __init__(
        self, module: ModuleOp, axes: Mapping[str, int], updates: Mapping[int, int], tied: bool = True,
        divided_weights: bool = False,
    ) -> None:  # fmt: skip
        main = main_of(module)
        self.main, self.names, self.sizes = main, tuple(axes), tuple(axes.values())
        self.divided_weights = divided_weights
        last = main.body.block.last_op
        assert isinstance(last, ReturnOp)
        self.last = last
        self.ops = [op for op in main.body.block.ops if op is not last]
        self.nodes: list[Node] = []
        self.values: list[Value] = []
        self.number: dict[SSAValue, int] = {}
        self._collect(names(main.arg_attrs))
        self.results = [self.number[x] for x in last.operands]
        for result, argument in updates.items():
            self.values[self.results[result]].updates = argument
        self._tie(classes_of(self.ops) if tied else list(range(len(self.ops))))
        self._give_options()
        self.fixed_results: dict[int, Joint] = {}
        self.fixed_held: dict[int, Joint] = {}
        """What a given plan says of results, and of shared values by the kind of their node."""

    def _collect(self, arguments: Sequence[str]) -> None:
        for name, x in zip(arguments, self.main.args, strict=True):
            self._node(name, None, [x])
        for op in self.ops:
            self._node(op.name, op, op.results)
        for at, op in enumerate([*self.ops, self.last]):
            for n, x in enumerate(op.operands):
                value = self.values[self.number[x]]
                value.last = at
                if op is not self.last:
                    value.readers.append((len(arguments) + at, n))

    def _node(self, name: str, op: Operation | None, values: Sequence[SSAValue]) -> None:
        made = -1 if op is None else len(self.nodes) - len(self.main.args)
        node = Node(len(self.nodes), name, op)
        for x in values:
            self.number[x] = len(self.values)
            node.values.append(len(self.values))
            self.values.append(Value(x, len(self.nodes), made, bytes_of(x)))
        self.nodes.append(node)

    def _tie(self, classes: list[int]) -> None:
        """Tie operators by their classes, and arguments that the same classes read."""
        first = len(self.main.args)
        for n, kind in enumerate(classes):
            self.nodes[first + n].kind = first + kind
        alike: dict[object, int] = {}
        sources = [n for n, node in enumerate(self.nodes) if node.op is None or not node.op.operands]
        for n in sources:
            value = self.values[self.nodes[n].values[0]] if self.nodes[n].values else None
            if value is None or len(self.nodes[n].values) > 1:
                continue
            readers = frozenset((self.nodes[m].kind, k) for m, k in value.readers)
            given = sharding_of(self.main.arg_attrs, n) if self.nodes[n].op is None else None
            key = self.nodes[n].name if self.nodes[n].op else "argument", value.x.type, readers, given
            self.nodes[n].kind = alike.setdefault(key, n) if readers else n

    def _give_options(self) -> None:
        made: dict[int, list[Option]] = {}
        for n, node in enumerate(self.nodes):
            if node.kind not in made:
                made[node.kind] = self._options(n)
            node.options = made[node.kind]

    def _options(self, n: int) -> list[Option]:
        op = self.nodes[n].op
        if isinstance(op, ShardOp):
            return [constrained(op, self.names)]
        if op is None or (self.divided_weights and op.name == "graph.weight"):
            given = sharding_of(self.main.arg_attrs, n) if op is None else None
            return [Option((), joint, 1, ("",) * len(joint)) for joint in self._of_argument(n, given)]
        if isinstance(op, GraphOp) and op.operands and len(op.results) == 1 and not op.regions:
            return options_of(op, self.sizes)
        whole = self.whole
        return [Option((whole,) * len(op.operands), whole, 1, ("it has a region, or is a constant",) * len(whole))]

    def _of_argument(self, n: int, given: ShardingAttr | None) -> list[Joint]:
        x = self.values[self.nodes[n].values[0]].x
        if given is not None:
            return [tuple(code_of(given.state(name)) for name in self.names)]
        return [self.whole] if element_of(x) == STRING else arguments_of(shape_of(x), self.sizes)

    @property
    def whole(self) -> Joint:
        return (ALL,) * len(self.sizes)

    def wanted(self, result: int) -> Joint:
        """Return the joint state of a result of the function, where it replaces no argument."""
        if result in self.fixed_results:
            return self.fixed_results[result]
        found = sharding_of(self.main.res_attrs, result)
        return self.whole if found is None else tuple(code_of(found.state(name)) for name in self.names)

    def shared(self, value: Value) -> bool:
        """Return whether a value has several readers, which may find it in a state of their own."""
        return len(value.readers) + self.results.count(self.number[value.x]) > 1


