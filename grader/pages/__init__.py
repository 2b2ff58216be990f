"""Static pages of the labs, for reading without JupyterLab: `make html`.

A page shows the released notebook, so no solution. Its plots and results come from the author's
notebook, run once more on saved recordings: nothing is measured, and the same recordings give the
same page.
"""
