// What the formgrader's lists show beyond nbgrader's own: marks for flags and for parts that were
// set aside, the id of a student without a name, and pages for a large class.
(() => {
  "use strict";

  // Flags and what was set aside: a mark next to nbgrader's own, with the notes as its tooltip.
  const marks = (model) => {
    const notes = model.get("ticklab");
    if (!notes) return [];
    const flags = notes.flags.length;
    return [
      {found: notes.flags, text: flags + (flags === 1 ? " flag" : " flags"), kind: "label-warning"},
      {found: notes.set_aside, text: "parts set aside", kind: "label-default"},
    ].filter((mark) => mark.found.length);
  };
  const words = (model) => marks(model).flatMap((mark) => [mark.text, ...mark.found]);

  for (const view of [window.SubmittedNotebookUI, window.SubmissionUI]) {
    if (!view) continue;
    const render = view.prototype.render;
    view.prototype.render = function () {
      render.call(this);
      const place = this.$flagged || this.$status;
      const own = place.attr("data-search") || place.text();
      for (const {found, text, kind} of marks(this.model)) {
        place.append(" ", $("<span/>").addClass("label " + kind).attr("title", found.join("\n"))
          .text(text));
      }
      const more = words(this.model);
      if (more.length) place.attr("data-search", [own, ...more].join(" "));
    };
  }

  // A student who was collected without a list of the class has no name. nbgrader writes
  // "None, None", and the same for an address that is not known.
  const isKnown = (part) => part !== null && part !== "";
  const nameOf = (model) =>
    [model.get("last_name"), model.get("first_name")].filter(isKnown).join(", ")
    || model.get("student") || model.id;
  const emailOf = (model) => model.get("email") || "";

  for (const view of [window.StudentUI, window.SubmissionUI]) {
    if (!view) continue;
    const render = view.prototype.render;
    view.prototype.render = function () {
      render.call(this);
      const cell = this.$name || this.$student_name, link = cell.children("a");
      cell.attr("data-order", nameOf(this.model));
      (link.length ? link : cell).text(nameOf(this.model));
      if (this.$email) {
        this.$email.attr("data-order", emailOf(this.model)).text(emailOf(this.model));
      }
    };
  }

  // nbgrader builds the rows of all students before it shows the first, which takes a browser many
  // seconds if there are thousands. A list that is longer than this has pages instead. Each row is
  // nbgrader's own, built when somebody looks at its page. Search and sorting span all rows, so
  // they need the values of rows that are not built: COLUMNS has them, the same as in nbgrader's
  // rows. A column is a pair: what it is sorted by, and what is searched in it.
  const LONGEST = 200, PAGE = 50;

  const share = (have, most) => most === 0 ? 0 : have / most;
  const points = (kind = "") => (model) => {
    const have = roundToPrecision(model.get(kind + "score"), 2);
    const most = roundToPrecision(model.get("max_" + kind + "score"), 2);
    return [share(have, most), have + " / " + most];
  };
  const same = (text) => [text, text];
  const none = () => same("");
  const name = (model) => same(nameOf(model));
  const yes = (key, text) => (model) => model.get(key) ? [1, text] : [0, ""];
  const marked = (column) => (model) => {
    const [order, text] = column(model);
    return [order, [text, ...words(model)].join(" ")];
  };
  const numbered = (model) => {
    const [last, first] = [model.get("last_name"), model.get("first_name")];
    const who = last !== null && first !== null ? last + ", " + first : model.get("student");
    return [model.get("index"), "Submission #" + (model.get("index") + 1) + " " + who];
  };
  const status = (model) => !model.get("autograded") ? [0, "needs autograding"]
    : model.get("needs_manual_grade") ? [1, "needs manual grading"] : [2, "graded"];

  const COLUMNS = {
    Students: [
      name, (model) => same(model.id), (model) => same(emailOf(model)), points(), none,
    ],
    Submissions: [
      name, (model) => same(model.get("student")),
      (model) => model.get("timestamp") === null ? same("None")
        : [model.get("timestamp"), model.get("display_timestamp")],
      marked(status), (model) => model.get("autograded") ? points()(model) : [0, ""],
      none, none, none,
    ],
    SubmittedNotebooks: [
      none, numbered, points(), points("code_"), points("written_"), points("task_"),
      yes("needs_manual_grade", "needs manual grade"), yes("failed_tests", "tests failed"),
      marked(yes("flagged", "flagged")),
    ],
  };
  const VIEWS = {
    Students: "StudentUI", Submissions: "SubmissionUI", SubmittedNotebooks: "SubmittedNotebookUI",
  };

  // DataTables puts what is searched into an element before it is compared, so it is escaped here.
  const value = (column) => (row, kind) => {
    if (!row.model || kind === "display" || kind === "set") return "";
    const [order, text] = column(row.model);
    return kind === "filter" ? _.escape(text) : order;
  };

  const showPages = (rows, list) => {
    const body = $("#main-table").empty();
    const classes = insertRow($("<tbody/>")).children().get().map((cell) => cell.className);
    const table = body.parent().DataTable({
      data: rows.map((model) => ({model})),
      columns: COLUMNS[list].map((column) => ({data: value(column)})),
      columnDefs: [{targets: "no-sort", orderable: false}],
      deferRender: true,
      autoWidth: false,
      pageLength: PAGE,
      lengthMenu: [PAGE, 2 * PAGE, LONGEST],
      // In this tab, a person comes back to the page and the search that were left.
      stateSave: true,
      stateDuration: -1,
      createdRow(element, row) {
        let view = views.find((one) => one.el === element);
        if (view) {  // nbgrader has made it, for a student who has just been added
          row.model = view.model;
          view.render();
        } else {
          $(element).children().each((place, cell) => { cell.className = classes[place]; });
          view = new window[VIEWS[list]]({model: row.model, el: element});
          views.push(view);
        }
        row.model.on("change sync", () => {
          table.row(element).invalidate("data");
          view.render();
        });
      },
      drawCallback: () => showNames(body),
    });
  };

  // Names are hidden or shown by nbgrader's button, on this page of the list and on all others.
  let areNamesShown = false;
  const showNames = (body) => {
    if (!document.getElementById("toggle_names")) return;
    body.find(".name-shown").toggle(areNamesShown);
    body.find(".name-hidden").toggle(!areNamesShown);
    updateToggleNamesButtonLabel();
    body.find("span.glyphicon.name-hidden").tooltip({title: "Show student name"});
    body.find("span.glyphicon.name-shown").tooltip({title: "Hide student name"});
  };

  for (const list of Object.keys(COLUMNS)) {
    if (!window[list]) continue;
    const fetch = window[list].prototype.fetch;
    window[list].prototype.fetch = function (options) {
      const showAll = options.success;
      const success = (...given) => {
        if (this.length <= LONGEST) return showAll(...given);
        if (document.getElementById("toggle_names")) {
          toggleAllNames = () => {
            areNamesShown = $("#toggle_names").text() === "Show All Names";
            showNames($("#main-table"));
          };
        }
        showPages(this, list);
        this.loaded = true;
      };
      return fetch.call(this, {...options, success});
    };
  }
})();
