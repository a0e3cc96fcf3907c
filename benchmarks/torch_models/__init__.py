"""Models of PyTorch: vision models written here, shrunk models of transformers; compared with eager torch."""
