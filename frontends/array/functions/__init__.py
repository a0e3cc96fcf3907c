"""Functions of the array frontend, a file a family of the Array API standard."""
