"""Tensor and number mathematics with no federated learning in it."""
