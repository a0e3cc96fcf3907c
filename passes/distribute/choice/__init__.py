"""The choice of strategies along one mesh axis."""
