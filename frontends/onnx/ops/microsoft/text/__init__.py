"""com.microsoft: operators on strings and token ids."""
