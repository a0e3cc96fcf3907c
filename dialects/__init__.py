"""Dialects: definitions of the IR's operations, types and attributes, and their meaning.

- ``graph``, ``kernel``, ``poly``, ``rt``: the dialects of the levels, operations only.
- ``semantics``: scalar functions and expressions, statements, dimensions, and the interpreter.
- ``autodiff``: derivatives of expressions, statements and operators.

Import rule: ``dialects`` imports nothing from ``passes``, ``frontends`` and the compiler.
"""
