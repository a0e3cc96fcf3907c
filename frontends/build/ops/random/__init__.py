"""Random number generators and distributions."""
