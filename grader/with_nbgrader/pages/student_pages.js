// nbgrader's program waits for MathJax before it selects a score. Formulas are pictures here.
window.MathJax = {Hub: {Startup: {signal: {Interest: (tell) => setTimeout(tell, 0, "End")}}}};

// Reports: the answers that a person grades. One button goes to the next one in this page, another
// to the next submission in which something waits for a person.
window.addEventListener("load", () => {
  const reports = $(".nbgrader_cell").has("input.score").has("textarea.comment");
  const scores = reports.find("input.score");
  if (!scores.length) return;
  const said = $("<span/>").attr("role", "status");
  const here = () => {
    const score = scores[(scores.index(document.activeElement) + 1) % scores.length];
    score.scrollIntoView({block: "center"});
    score.focus();
  };
  let looking = false;
  const look = async () => {
    $(document).off("finished_saving", look);
    if (looking) return;
    looking = true;
    said.text("Looking for the next one ...");
    const answer = await fetch(`${base_url}/submissions/${submission_id}/next?waiting`);
    const to = answer.ok ? await answer.json() : null;
    said.text(!answer.ok ? "The list cannot be read." : to ? "" : "No other submission waits.");
    looking = false;
    if (!to) return;
    const index = formgrader.getIndex(scores.first());
    window.location = `${base_url}/submissions/${to}/?index=${index}`;
  };
  // What is being typed is saved first, so that the list knows it.
  const next = () => formgrader.save(look);
  const button = (text, title, act) => $("<button/>").attr({type: "button", title})
    .addClass("btn btn-default btn-sm").text(text).on("click", act);
  $("<div/>").attr("id", "ticklab-reports").append(
    button("Report in this page", "Alt+R", here), " ",
    button("Next report to grade", "Alt+N: the next submission that waits for a person", next), " ",
    said).appendTo("body");
  document.addEventListener("keydown", (event) => {
    const act = event.altKey && {KeyR: here, KeyN: next}[event.code];
    if (!act) return;
    event.preventDefault();
    act();
  });

  reports.each((_, report) => {
    showRubric($(report));
    showPlots($(report));
  });
});

// The rubric beside an answer. When a level of each criterion is chosen, their points are the score.
// The levels go into the comment, one line for each criterion: students read there what is missing,
// and this page reads there what was chosen.
const showRubric = (report) => {
  const score = report.find("input.score"), comment = report.find("textarea.comment");
  const criteria = (ticklabRubrics[notebook_id] || {})[score.attr("id")];
  if (!criteria) return;
  const chosen = criteria.map(() => null);
  const said = $("<p/>").attr("role", "status");
  const line = ({what, points}, level) => `- ${what}: ${level.points} of ${points}. ${level.text}`;
  const sum = () => chosen.reduce((all, level) => all + level.points, 0);
  const say = () => {
    const open = chosen.filter((level) => !level).length;
    said.text(open ? `${open} of ${criteria.length} criteria to choose` : `${sum()} points`);
  };
  const choose = (place, level) => {
    chosen[place] = level;
    say();
    if (chosen.some((each) => !each)) return;
    score.val(sum()).trigger("change");
    const own = comment.val().split("\n")
      .filter((words) => !criteria.some(({what}) => words.startsWith(`- ${what}: `)));
    const lines = criteria.map((criterion, number) => line(criterion, chosen[number]));
    comment.val([...lines, "", ...own].join("\n").trim()).trigger("change");
    comment[0].dispatchEvent(new Event("autosize:update"));
  };
  const boxes = criteria.map((criterion, place) => {
    const {what, points, levels} = criterion;
    return $("<fieldset/>").append(
      $("<legend/>").text(`${what} (${points === 1 ? "1 point" : `${points} points`})`),
      levels.map((level) => $("<label/>").append(
        $("<input/>").attr({type: "radio", name: `rubric-${score.attr("id")}-${place}`})
          .data("level", level).on("change", () => choose(place, level)),
        $("<b/>").text(level.points), " ", $("<span/>").text(level.text))));
  });
  const rubric = $("<section/>").addClass("ticklab-rubric").attr("aria-label", "Rubric")
    .append($("<h4/>").text("Rubric"), boxes, said);
  report.addClass("ticklab-with-rubric").children(".panel-body").after(rubric);
  say();

  // What an earlier look chose.
  formgrader.comments.on("sync", () => {
    const lines = new Set(comment.val().split("\n"));
    criteria.forEach((criterion, place) => {
      const found = criterion.levels.find((level) => lines.has(line(criterion, level)));
      if (!found) return;
      chosen[place] = found;
      boxes[place].find("input").each((_, box) => {
        box.checked = $(box).data("level") === found;
      });
    });
    say();
  });
};

// The plots of the recordings below the evidence for an answer, each with a link to its figure.
const showPlots = (report) => {
  const evidence = report.closest(".cell").next().filter("[id^='cell-id=evidence-beside-']");
  const plots = $(".nbgrader_cell").has("input.score").not($(".nbgrader_cell").has("textarea.comment"))
    .get().flatMap((figure) => {
      const cell = $(figure).closest(".cell");
      return cell.find(".output_png img").get().map((plot) => $("<a/>")
        .attr("href", "#" + encodeURIComponent(cell.attr("id")))
        .append($(plot).clone().removeAttr("width"), $(figure).find(".nbgrader-label").text()));
    });
  if (!evidence.length || !plots.length) return;
  evidence.append($("<details/>").prop("open", true).addClass("ticklab-plots").append(
    $("<summary/>").text(`Plots of the recordings (${plots.length})`), $("<div/>").append(plots)));
};
