"""A graph as text: a list of its nodes, Graphviz' language, and a drawing in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlc.graph.node import Node

SHAPES = {"Placeholder": "ellipse", "Variable": "box3d"}
WIDTH, HEIGHT, GAP = 130, 32, 34  # of a box in the drawing, and between rows


def listing(nodes: Sequence[Node]) -> str:
    """A line for each node."""
    return "\n".join(f"{node.name} = {node.kind}({', '.join(x.name for x in node.input_nodes)})" for node in nodes)


def dot(nodes: Sequence[Node]) -> str:
    """Graphviz' language."""
    lines = ["digraph {", "  rankdir=TB; node [shape=box, fontname=Helvetica];"]
    for node in nodes:
        label = node.name if node.name.startswith(node.kind) else f"{node.name}\\n{node.kind}"
        lines.append(f"  {_quoted(node.name)} [label={_quoted(label)}, shape={SHAPES.get(node.kind, 'box')}];")
        lines += [f"  {_quoted(each.name)} -> {_quoted(node.name)};" for each in node.input_nodes]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def svg(nodes: Sequence[Node]) -> str:
    """A drawing with a row for each length of the longest path from an end."""
    rows: dict[Node, int] = {}
    counts: dict[int, int] = {}
    positions: dict[Node, tuple[int, int]] = {}
    for node in nodes:
        row = rows[node] = 1 + max((rows.get(each, 0) for each in node.input_nodes), default=-1)
        positions[node] = counts.get(row, 0) * (WIDTH + GAP) + GAP, row * (HEIGHT + GAP) + GAP
        counts[row] = counts.get(row, 0) + 1
    size = max(counts.values(), default=0) * (WIDTH + GAP) + GAP, len(counts) * (HEIGHT + GAP) + GAP
    lines = [_line(positions, each, node) for node in nodes for each in node.input_nodes if each in positions]
    boxes = [_box(node, *positions[node]) for node in nodes]
    font = 'font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" {font}>'
    return "\n".join([head, *lines, *boxes, "</svg>"])


def _line(positions: dict[Node, tuple[int, int]], start: Node, end: Node) -> str:
    (x1, y1), (x2, y2) = positions[start], positions[end]
    half = WIDTH // 2
    return f'<line x1="{x1 + half}" y1="{y1 + HEIGHT}" x2="{x2 + half}" y2="{y2}" stroke="gray"/>'


def _box(node: Node, x: int, y: int) -> str:
    fill = {"Placeholder": "#e0f0ff", "Variable": "#fff0d0"}.get(node.kind, "white")
    box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{fill}" stroke="black"/>'
    middle = f'x="{x + WIDTH // 2}" y="{y + HEIGHT // 2 + 4}" text-anchor="middle"'
    return f"{box}<text {middle}>{escape(node.name[-22:])}</text>"
