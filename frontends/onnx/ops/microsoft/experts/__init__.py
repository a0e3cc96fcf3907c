"""Mixtures of experts of com.microsoft."""
