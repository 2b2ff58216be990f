"""The docs as a site: `make docs`.

A page of the site is a Markdown file of `docs/`, or is made from the catalogue of pitfalls and from
saved recordings. :mod:`grader.site.site_pages` collects them all in one folder, from which Sphinx
writes HTML.
"""
