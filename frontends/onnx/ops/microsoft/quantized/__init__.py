"""com.microsoft: operators on quantized tensors and on weights in blocks."""
