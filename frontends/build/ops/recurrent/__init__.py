"""Recurrent cells and other operators that go along a sequence with a state."""
