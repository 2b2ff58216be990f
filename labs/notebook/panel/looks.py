"""The style of a panel, and the attributes that its widgets cannot set themselves."""

from __future__ import annotations

#: In the colours of the page that it stands in, light or dark. VS Code gives widgets a white
#: ground in each theme, but `code` the colours of its theme.
STYLE = """<style>
.ticklab-panel { border: 1px solid var(--jp-border-color2, #ccc); border-radius: 6px;
  padding: 12px min(16px, 2vw) 14px; max-width: 760px; box-sizing: border-box; }
.ticklab-panel .widget-label { text-align: left; color: var(--jp-content-font-color1, inherit); }
.ticklab-panel .widget-html-content { line-height: 1.45; flex: 1 1 0; min-width: 0; }
.ticklab-panel select { background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/\
2000/svg' viewBox='0 0 18 18'%3E%3Cpath fill='%23808080' d='M5 7l4 4 4-4z'/%3E%3C/svg%3E"); }
.ticklab-panel table { font-size: clamp(11px, 2vw, 13px); }
.ticklab-panel .ticklab-title { font-weight: 600; }
.ticklab-panel .ticklab-quiet { color: var(--jp-content-font-color2, #555); }
.ticklab-panel :is(.ticklab-note, .ticklab-wrong) { font-size: 12px; line-height: 1.35; }
.ticklab-panel .ticklab-wrong { border-left: 4px solid #D55E00; padding-left: 6px;
  color: var(--jp-content-font-color1, inherit); }
.ticklab-panel .ticklab-line { margin: 0; padding: 6px 10px; border-radius: 4px; user-select: text;
  background: var(--jp-layout-color2, #eee); color: var(--jp-content-font-color1, inherit);
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  line-height: 1.5; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; }
.cell-output-ipywidget-background .ticklab-panel code { color: inherit; background: none; }
.ticklab-panel :is(button, input, select, summary, .noUi-handle):focus-visible {
  outline: 3px solid var(--jp-brand-color1, #1976d2) !important; outline-offset: 2px; }
.ticklab-panel :is(select, input):disabled { opacity: .5; cursor: not-allowed; }
.ticklab-panel .slider-container { overflow: visible; }
.ticklab-panel .ticklab-stale { border: 2px dashed #E69F00; border-radius: 4px; padding: 4px 10px; }
.ticklab-panel .ticklab-stale img { opacity: .35; }
</style>"""

#: Three things that ipywidgets cannot set. JupyterLab takes the arrow keys for moving between
#: cells even where the focus is in a menu or on a slider, and letters for cutting and copying
#: them; Lumino leaves an element with the first attribute alone. A slider has no name, and it
#: says the power of ten where it stands; the words for it are in an element of the panel. The
#: HTML of a widget runs no <script>, and a script in the output of a cell would be saved with
#: the notebook.
SCRIPT = """<img hidden alt="" src="data:," onerror="
  const name = () => {
    for (const words of document.querySelectorAll('.ticklab-panel .ticklab-slider-words')) {
      const handle = words.closest('.ticklab-panel').querySelector('.noUi-handle');
      if (!handle) continue;
      for (const [key, value] of [['data-lm-suppress-shortcuts', 'true'],
          ['aria-label', words.dataset.name], ['aria-valuetext', words.textContent]])
        if (handle.getAttribute(key) !== value) handle.setAttribute(key, value);
    }
    for (const menu of document.querySelectorAll('.ticklab-panel select'))
      menu.setAttribute('data-lm-suppress-shortcuts', 'true');
  };
  name();
  if (!window.ticklabPanels) {
    window.ticklabPanels = new MutationObserver(name);
    window.ticklabPanels.observe(document.body,
      {subtree: true, childList: true, attributes: true, attributeFilter: ['aria-valuetext']});
  }">"""

#: What the slider is and where it stands, for a screen reader.
SLIDER_WORDS = (
    '<span hidden class="ticklab-slider-words" data-name="'
    '{{ translated("Samples, on a logarithmic scale from {least} to {most}").format('
    'least=least, most=most) }}">{{ words }}</span>'
)
STATUS = '<div role="status" class="ticklab-quiet">{{ translated(words) }}</div>'
TITLE = (
    '<span class="ticklab-title">{{ translated("Measure {kernel}").format(kernel=kernel) }}</span>'
)
LINE = (
    '<div class="ticklab-quiet">{{ translated("The same in one line of Python:") }}</div>'
    '<pre class="ticklab-line"><code>{{ translated(line) }}</code></pre>'
)
STALE = (
    '<div role="status"><strong>{{ translated("This result is of other settings.") }}</strong> '
    "{{ translated(words) }}</div>"
)
