"""Signal processing: Fourier transforms and mel filter banks."""
