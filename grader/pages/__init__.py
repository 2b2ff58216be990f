"""Static pages of the labs, for reading without JupyterLab: `make html`.

A page shows the released notebook without solutions. Its plots and results come from the author's
notebook, which runs again on saved recordings. It measures nothing, so the same recordings give the
same page.
"""
