"""Commands that the farm adds to `understudy`."""
