"""Attention of com.microsoft: on heads as [batch, heads, sequence, size]."""
