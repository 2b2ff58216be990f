"""Pages that stand alone: their look, how they are kept from other files, how they become a PDF."""
