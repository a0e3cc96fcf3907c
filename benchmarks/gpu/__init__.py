"""What mlc does on an NVIDIA GPU: results, kernel times, the cost of a launch, and matrix products."""
