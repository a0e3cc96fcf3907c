"""Generation of tokens by a decoder that is a subgraph."""
