"""Operators over sliding windows: convolutions, pooling, and their transposes."""
