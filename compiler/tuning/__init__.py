"""Schedules by measurement: ``mlc tune`` finds them, the store keeps them, and compiling takes them from there."""
