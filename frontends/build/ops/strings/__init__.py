"""Operators on strings: conversion, splitting, regular expressions, n-grams."""
