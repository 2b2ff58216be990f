"""Read what students hand in without risk: files, notebooks, and the notebook to grade."""
