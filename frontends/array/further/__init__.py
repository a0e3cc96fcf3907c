"""Functions of NumPy that are needed more rarely: bits, files, histograms of points, polynomials, windows."""
