"""The Builder's methods, a file a family, and the insertion point that they share."""
