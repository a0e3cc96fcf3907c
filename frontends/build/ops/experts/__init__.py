"""Mixtures of experts: routing of tokens, and the products of the experts that a token has."""
