"""Sphinx's settings for the site of the docs; `make docs` writes it to build/docs.

The pages lie in build/site, where `python -m grader.site` puts those of this folder and those that
it makes from the catalogue. Nothing is loaded from another server.
"""

from labs.common.version import __version__

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
