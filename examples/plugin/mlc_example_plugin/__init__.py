"""A plug-in of mlc: each file has what one entry point names (pyproject.toml)."""
