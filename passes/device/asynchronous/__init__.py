"""Passes of the asynchronous phase: copies that threads do not wait for, by all threads or by specialized warps."""
