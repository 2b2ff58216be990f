"""Plots of recordings and results, each with a description and a table."""
