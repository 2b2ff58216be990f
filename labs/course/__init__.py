"""A student's way through the labs: figures, predictions, guide, progress, published figures."""
