"""What ranks do: collectives for changes of state, and operators on the parts that a rank has."""
