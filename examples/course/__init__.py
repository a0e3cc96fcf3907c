"""Programs as courses on frameworks write them: only the imports are those of mlc."""
