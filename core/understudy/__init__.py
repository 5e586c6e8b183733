"""understudy: train an image-to-image network on painted frames and give the whole shot back."""

__version__ = "0.1.0"
