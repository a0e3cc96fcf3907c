"""The PyTorch frontend: an exported program, or a graph of torch.compile, becomes a graph module and a weight store."""
