"""One submitted figure with all that is known of it: what is asked, what the recording gives."""
