"""One submitted figure: what is asked, what its recording gives, and what a verdict is."""
