"""Whatever can be handed in: made up, changed, or too large."""
