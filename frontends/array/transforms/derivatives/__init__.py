"""Derivatives of functions on arrays: variables, gradients, linear maps, Jacobians."""
