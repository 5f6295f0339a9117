"""Trees of tensors: tuples, named tuples, lists and dicts, leaf by leaf.

PyTorch has no public module for them yet; this is the one place that knows its private one.
"""

from torch.utils._pytree import (
    TreeSpec,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)

__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]
