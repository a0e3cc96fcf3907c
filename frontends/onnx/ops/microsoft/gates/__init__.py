"""Gates, and streams that are mixed by them."""
