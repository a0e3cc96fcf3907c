"""PyTorch programs as sources of the driver, models that run on tensors, and the backend of torch.compile."""
