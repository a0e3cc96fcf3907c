"""Factors that are kept in one matrix, as LAPACK has them."""
