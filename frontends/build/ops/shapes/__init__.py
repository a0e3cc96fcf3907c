"""Shape operators whose shapes, offsets or axes may be run-time scalars; slices, padding, ranges."""
