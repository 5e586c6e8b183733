"""Commands that the interface brings to `understudy`."""
