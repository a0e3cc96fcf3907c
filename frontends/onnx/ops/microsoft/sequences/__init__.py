"""Operators of com.microsoft that go along a sequence with a state."""
