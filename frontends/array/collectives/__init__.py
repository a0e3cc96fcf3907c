"""Collectives on arrays: what ``mlc.comm`` has."""
