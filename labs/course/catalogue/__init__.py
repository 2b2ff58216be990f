"""Which labs there are, without their guides: completion, lists and suggestions wait for it."""
