"""Training: gradients, and steps of optimizers."""
