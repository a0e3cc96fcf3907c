"""Shares of the steps of tiles, which several blocks compute together (stream-K)."""
