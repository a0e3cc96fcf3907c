"""Linear algebra. Source: Array API 2025.12."""
