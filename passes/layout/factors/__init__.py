"""Factors of products: in which type they are multiplied."""
