"""Functions that NumPy and ``jax.numpy`` have and the Array API standard lacks, each composed of the standard's.

So they trace, have derivatives and are batched as their parts do. A second name of a function is in ``aliases``.
"""
