"""Sphinx's settings for the site of the docs; `make docs` writes it to build/docs.

The pages lie in build/site, where `python -m grader.docs_site` puts those of this folder and those
that it makes from the catalogue. Nothing is loaded from another server.
"""

import logging

from labs.version import __version__

project = "Ticklab"
author = "the Ticklab authors"
copyright = "the Ticklab authors. Prose CC BY 4.0, code BSD-3-Clause, data CC0"
release = version = __version__
language = "en"

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
# Links to headings, as GitHub makes them: [text](page.md#a-heading).
myst_heading_anchors = 4
nitpicky = True
# Blocks without a language are commands, and what they print.
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

html_theme = "furo"
html_title = "Ticklab"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


def is_no_empty_part(record):
    """Drops a warning without a type to suppress: a menu may name pages that are not there yet."""
    return "toctree glob pattern" not in record.getMessage()


logging.getLogger("sphinx.sphinx.directives.other").addFilter(is_no_empty_part)


def reachable(app, page, template, context, doctree):
    """Add what a keyboard and a screen reader need, and the theme leaves out."""
    menu = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = menu.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    # What can be moved sideways must take the focus.
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    focused = '<div tabindex="0" class="table-wrapper'
    context["body"] = body.replace('<div class="table-wrapper', focused)


def setup(app):
    """Called by Sphinx. The theme sets its menu in a handler of the same event, before ours."""
    app.connect("html-page-context", reachable, priority=900)
