"""Generation of tokens: which of them may follow, and which one does."""
