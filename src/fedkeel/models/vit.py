"""A small vision transformer for images of 28 to 64 pixels a side."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from ..errors import InputError
from ._blocks import Size, blocks, gpt2
from ._shapes import PATCH, channelled, image, whole


class ViT(nn.Module):
    """Patches and their places embedded, blocks of attention, the mean over all patches.

    The mean takes the place of a class token: it does as well for small transformers, and no
    weight is left that only one position uses (Beyer et al., 2022).
    """

    def __init__(self, channels: int, patches: int, classes: int, patch: int, size: Size) -> None:
        """Build the layers."""
        super().__init__()
        self.patches = nn.Conv2d(channels, size.width, patch, stride=patch)
        self.positions = nn.Embedding(patches, size.width)
        self.drop = nn.Dropout(size.dropout)
        self.blocks = blocks(size, causal=False)
        self.norm = nn.LayerNorm(size.width)
        self.fc = nn.Linear(size.width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = self.patches(channelled(x)).flatten(2).mT  # (B, patches, width)
        x = self.blocks(self.drop(x + self.positions.weight))
        logits: Tensor = self.fc(self.norm(x).mean(1))
        return logits


def vit(
    classes: int,
    shape: Sequence[int],
    patch: int = PATCH,
    width: int = 192,
    depth: int = 6,
    heads: int = 3,
    dropout: float = 0.0,
) -> nn.Module:
    """Build the transformer, with GPT-2's initial weights; patches keep their variance.

    Args:
        classes: How many logits it gives.
        shape: Of a sample: channels, height, width.
        patch: Pixels a side of a patch; the image's sides are multiples of it.
        width: Features of a patch; a multiple of ``heads``.
        depth: Blocks.
        heads: Parts of the features that look for themselves.
        dropout: Of embeddings, attention and what each block adds, in training.
    """
    whole("patch", patch)
    channels, tall, wide = image("vit", shape)
    if tall % patch or wide % patch:
        raise InputError(
            f"model 'vit' takes images whose sides are multiples of patch={patch}, and these are "
            f"{tall}x{wide}: take another patch"
        )
    size = Size(width, depth, heads, dropout).checked()
    model = ViT(channels, (tall // patch) * (wide // patch), classes, patch, size)
    gpt2(model, depth)
    nn.init.normal_(model.patches.weight, 0.0, (channels * patch**2) ** -0.5)
    nn.init.zeros_(model.get_parameter("patches.bias"))
    return model
