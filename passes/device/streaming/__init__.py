"""Streaming on tensor cores (FlashAttention): running results stay in registers, the first operand in shared memory."""
