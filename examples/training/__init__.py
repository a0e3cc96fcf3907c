"""Networks that are trained, offline: data are generated, or the documentation's own text."""
