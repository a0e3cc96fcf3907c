"""The distribute passes, between graph and layout: a program for one rank becomes one that all ranks of a mesh run.

Each works on one mesh axis. ``distribute`` applies them for every axis of the module's mesh; without a mesh it does
nothing.
"""
