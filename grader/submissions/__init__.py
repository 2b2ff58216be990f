"""What students hand in, taken in safely: files, notebooks, the notebook to grade."""
