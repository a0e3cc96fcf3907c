"""Source locations: the user's file and line that a node of a torch graph comes from, and its module."""

from __future__ import annotations

import os
import re
from pathlib import Path

import torch
from torch.fx import Node

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_TORCH = f"{Path(torch.__file__).parent}{os.sep}"


def location(node: Node) -> str:
    """``model.py:57 layers.0.conv``: the innermost line outside of torch, and the path of the innermost module."""
    parts = [line_of(node), module_of(node)]
    return " ".join(part for part in parts if part) or node.name


def line_of(node: Node) -> str:
    """``model.py:57``, or nothing where the trace is unknown."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or node.stack_trace or "")
    own = [each for each in frames if not each[0].startswith((_TORCH, f"torch{os.sep}"))]
    return f"{os.path.basename(own[-1][0])}:{own[-1][1]}" if own else ""


def module_of(node: Node) -> str:
    """``layers.0.conv``; nothing for the module itself."""
    stack = node.meta.get("nn_module_stack") or {}
    path = next((path for path, _ in reversed(stack.values())), "") if stack else ""
    return re.sub(r"L\['self'\]\.?|_modules\['(\w+)'\]|\[['\"]?(\w+)['\"]?\]", _plain, path).strip(".")


def _plain(match: re.Match[str]) -> str:
    return f".{match[1] or match[2]}" if match[1] or match[2] else ""
