"""Operators that any frontend needs, as functions of the Builder and of tensors; one file a family."""
