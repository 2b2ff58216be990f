/*
 * Shows the C of %%ckernel cells in the colours of C.
 *
 * JupyterLab colours every code cell in the language of the notebook, and knows no cell magics. It
 * takes the language of an editor from the MIME type of the cell's model: so that is set, by the
 * first line of the cell, and set again whenever that line or the type changes.
 *
 * A prebuilt extension, written as it is loaded: a container of JupyterLab's module federation with
 * one module, the plugin. Nothing is built, and nothing but JupyterLab's own notebook is asked for.
 */
(() => {
  'use strict';

  const MAGIC = /^%%ckernel(?!\S)/;
  const C = 'text/x-csrc';

  const watched = new WeakSet(); // models of cells
  let shared; // the modules that JupyterLab offers, by name and version

  /** The module `name` as JupyterLab itself uses it. */
  async function moduleNamed(name) {
    const versions = Object.values(shared[name] || {});
    if (versions.length === 0) {
      throw new Error(`JupyterLab offers no ${name}`);
    }
    const known = versions.find(version => version.loaded) || versions[0];
    return (await known.get())();
  }

  /** Keep the MIME type of one cell right: C under the magic, and what it was elsewhere. */
  function watchCell(cell) {
    if (cell.type !== 'code' || watched.has(cell)) {
      return;
    }
    watched.add(cell);
    let before = null; // the type of the notebook's language, while the cell is in C
    const colour = () => {
      const isC = MAGIC.test(cell.sharedModel.getSource());
      if (isC && cell.mimeType !== C) {
        before = cell.mimeType;
        cell.mimeType = C;
      } else if (!isC && before !== null) {
        cell.mimeType = before;
        before = null;
      }
    };
    colour();
    cell.contentChanged.connect(colour);
    cell.mimeTypeChanged.connect(colour);
  }

  /** Keep all cells of a notebook right, also those that come later. */
  function watchNotebook(model) {
    if (!model) {
      return;
    }
    for (const cell of model.cells) {
      watchCell(cell);
    }
    model.cells.changed.connect((cells, change) => {
      if (change.type !== 'remove') {
        change.newValues.forEach(watchCell);
      }
    });
  }

  function activate(app, tracker) {
    tracker.widgetAdded.connect((sender, panel) => {
      watchNotebook(panel.content.model);
      panel.content.modelChanged.connect(notebook => watchNotebook(notebook.model));
    });
  }

  async function plugin() {
    const { INotebookTracker } = await moduleNamed('@jupyterlab/notebook');
    return {
      id: 'ticklab-c-cells:plugin',
      description: 'Shows the C of %%ckernel cells in the colours of C.',
      autoStart: true,
      requires: [INotebookTracker],
      activate
    };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['ticklab-c-cells'] = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const exported = { __esModule: true, default: await plugin() };
      return () => exported;
    }
  };
})();
