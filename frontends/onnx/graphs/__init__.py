"""Graphs within a model: functions, bodies of control flow, and the branches of an If."""
