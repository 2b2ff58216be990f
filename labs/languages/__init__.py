"""The language that a reader sees: catalogues of gettext, one `.po` file for each language.

The kit computes and stores English. A sentence is translated where it is shown, so recordings,
verdicts and grades are the same bytes in every language.
"""
