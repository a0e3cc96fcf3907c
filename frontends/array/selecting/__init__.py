"""Elements chosen and changed at indices: take, updates, and functions whose results have as many as data says."""
