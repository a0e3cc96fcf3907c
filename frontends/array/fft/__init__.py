"""Discrete Fourier transforms. Source: Array API 2025.12."""
