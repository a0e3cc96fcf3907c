"""What rows of `contrib_rows_*.py` do not draw as onnxruntime 1.32 refuses it or is wrong: an operator, and why."""

from __future__ import annotations

LEFT_OUT: tuple[tuple[str, str], ...] = (
    ("Attention", "masks [B, 1, M, M], a shared past and a rotation are not there on CPUs"),
    ("DynamicQuantizeLSTM", "weights of W and R are of one type; zero points of columns are equal, or 0 where signed"),
    ("DynamicQuantizeLSTM", "a sequence of no steps ends in zeros, and not in its initial state"),
    ("BeamSearch", "needs min_length and length_penalty; whether a batch ends is decided by sums of the one before it"),
    ("CausalConvWithState", "ndim over 1 and state_window are not there on CPUs"),
    ("GatedAdd", "gate_weight is there on one GPU"),
    ("GreedySearch", "columns after the one in which all sequences have ended are not written"),
    ("GroupQueryAttention", "windowed caches; normalized queries and keys are not there on CPUs"),
    ("MatMulNBits", "zero points that are floats, of 8 bits"),
    ("MoE, QMoE", "FC3, and swiglu whose halves are not interleaved, are not there on CPUs"),
    ("MultiHeadAttention", "queries, keys and values that are packed, masks [3 * B + 2], a past of cross attention"),
    ("MultiHeadAttention, DecoderMaskedMultiHeadAttention", "with cache_indirection the bias is read of another beam"),
    ("DecoderMaskedMultiHeadAttention", "packed queries, keys and values"),
    ("MRotaryEmbedding", "rows [B, S, hidden] need num_heads"),
    ("QMoE", "columns of 2 bits in blocks of 32 are looked up in tables of rounded sums"),
    ("SparseAttention", "sequences of several lengths: only the first one's keys are right, and its rotation"),
    ("SparseAttention", "a rotation of a first call of one row, whose positions it reads beyond their end"),
    ("SparseAttention", "heads whose size is no multiple of 8, or of 16 with a rotation"),
)
