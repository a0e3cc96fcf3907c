"""Ensembles of decision trees: nodes of any comparison, one comparison, tables that rows descend."""
