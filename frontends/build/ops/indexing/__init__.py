"""Reads and writes at computed indices, sorting, and selection of elements."""
