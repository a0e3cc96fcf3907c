"""Tuning: ``mlc tune`` measures schedules, the store keeps the faster ones, and compilations use these."""
