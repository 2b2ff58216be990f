"use strict";
// Asks for the wall again and again, and draws it. All words that come are set as text.

const SVG = "http://www.w3.org/2000/svg";
const PAUSE_MS = 250;
const RETRY_MS = 500;
// In units of the drawing's text: the edge, the foot with the axis, a line of text.
const [EDGE, FOOT, LINE] = [12, 34, 18];
const element = (id) => document.getElementById(id);
const phone = matchMedia("(max-width: 700px)");
let shown = { now: "" };
let lost = 0;

async function follow() {
  try {
    // Nothing comes if the wall is still the one that is shown.
    const asked = new URLSearchParams({ since: shown.now });
    const answer = await fetch(`state?${asked}`, { signal: AbortSignal.timeout(30000) });
    if (!answer.ok) throw new Error(answer.status);
    if (answer.status !== 204) show(await answer.json());
    if (lost) say("");
    lost = 0;
  } catch {
    // The server may be starting again; the page stays as it is until then.
    lost += 1;
    if (lost === 3) say("No connection to the class. The page stays as it is and goes on by itself.");
  }
  setTimeout(follow, lost ? RETRY_MS : PAUSE_MS);
}

function made(name, text = "", attributes = {}, within = document.documentElement.namespaceURI) {
  const node = document.createElementNS(within, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== "") node.textContent = text;
  return node;
}

function counted(count, rest) {
  const item = made("li");
  item.append(made("strong", count), ` ${rest}`);
  return item;
}

function show(said) {
  shown = said;
  element("place").textContent = said.place;
  element("frozen").hidden = !said.frozen;
  element("asks").textContent = said.asks;
  element("counts").replaceChildren(...said.counts.map((each) => counted(...each)));
  element("both").className = said.revealed ? "both" : "";
  element("found").hidden = !said.revealed;
  const mistakes = said.mistakes.map((each) => counted(...each));
  element("mistakes").replaceChildren(...(mistakes.length ? mistakes : [made("li", "Nothing yet.")]));
  element("drawing").replaceChildren(said.bands.length ? drawn(said) : made("p", "Nothing to show yet."));
  element("table").replaceChildren(table(said));
  element("join").textContent = said.join || "closed to newcomers";
  // The wall has no buttons, and no list.
  const pressed = { reveal: said.revealed, freeze: said.frozen, close: !said.join };
  for (const [name, on] of Object.entries(pressed)) {
    document.querySelector(`[data-do="${name}"]`)?.setAttribute("aria-pressed", String(on));
  }
  element("refused")?.replaceChildren(...said.refused.map((words) => made("li", words)));
}

function drawn({ bands, axis, revealed }) {
  const [width, height] = [phone.matches ? 340 : 680, revealed ? 390 : 264];
  const base = height - FOOT;
  const words = bands.map((band) => `${band.name}: ${band.marks.length}`).join(", ");
  const svg = made("svg", "", {
    viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${words}, on a logarithmic axis.`,
  }, SVG);
  const add = (name, attributes, text) => svg.append(made(name, text, attributes, SVG));
  const path = (colour, wide, steps) => add("path", { class: colour, "stroke-width": wide, d: steps });
  const write = (colour, x, y, text, anchor = "start") =>
    add("text", { class: colour, x, y, "text-anchor": anchor }, text);
  const [low, high] = axis.ends.map(Math.log);
  const at = (value) => {
    const share = (Math.log(Math.max(value, 1e-300)) - low) / (high - low);
    return EDGE + Math.min(Math.max(share, 0), 1) * (width - 2 * EDGE);
  };

  axis.labels.forEach(([place, label], n) => {
    path("grid", 0.7, `M${at(place)} 4V${base}`);
    if (!phone.matches || n % 2 === 0) write("", at(place), base + 14, label, "middle");
  });
  path("quiet", 1, `M${EDGE} ${base}H${width - EDGE}`);
  write("quiet", width / 2, height - 4, axis.name, "middle");

  const each = (base - 6) / bands.length;
  bands.forEach(({ sort, name, marks }, n) => {
    const [top, end] = [6 + n * each + LINE, 6 + (n + 1) * each - 3];
    const colour = sort === "measured" ? `kind${n % 5}` : sort;
    const sign = sort === "published" ? " (◆), or known to be wrong (×)" : `: ${marks.length}`;
    write(`name ${colour}`, EDGE, top - 5, name + sign);
    if (sort === "predicted") stack(marks.map(([value]) => at(value)), top, end, colour, path);
    if (sort === "measured") {
      // A line for each interval with a dot for its value, one below the other.
      const step = (end - top) / marks.length;
      const radius = Math.min(4, Math.max(1.3, 0.7 * step));
      const rows = marks.map((mark, row) => [top + (row + 0.5) * step, ...mark.map(at)]);
      path(colour, Math.max(0.6, radius / 2), rows.map(([y, , from, to]) => `M${from} ${y}H${to}`).join(""));
      path(colour, 2 * radius, rows.map(([y, x]) => `M${x} ${y}h0`).join(""));
      const middle = at(quantile(marks, 0.5));
      path(`median ${colour}`, 1.5, `M${middle} ${top}V${end}`);
    }
    if (sort === "published") {
      for (const [value, , wrong] of marks) {
        write(wrong ? "wrong" : colour, at(value), (top + end) / 2 + 8, wrong ? "×" : "◆", "middle");
      }
    }
  });
  return svg;
}

// Dots that would touch are stacked, and all become smaller to fit.
function stack(places, top, end, colour, path) {
  for (const radius of [9, 7, 5, 4, 3, 2, 1.5, 1, 0.6]) {
    const columns = new Map();
    const dots = places.map((place) => {
      const column = Math.floor(place / (2 * radius));
      columns.set(column, (columns.get(column) ?? 0) + 1);
      return `M${(column + 0.5) * 2 * radius} ${end - (2 * columns.get(column) - 1) * radius}h0`;
    });
    if (2 * radius * Math.max(...columns.values()) <= end - top || radius < 1) {
      path(colour, 1.8 * radius, dots.join(""));
      return;
    }
  }
}

// The numbers of the drawing.
function table({ asks, header, bands }) {
  const node = made("table");
  const row = (kind, ...cells) => {
    const line = made("tr");
    line.append(...cells.map((text, n) => made(n && kind === "td" ? "td" : "th", text)));
    node.append(line);
  };
  node.append(made("caption", asks));
  row("th", ...header);
  for (const { sort, name, marks } of bands) {
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(marks, share));
    if (sort !== "published") row("td", name, marks.length, rounded(middle), `${rounded(low)} to ${rounded(high)}`);
    else marks.forEach(([value, where, wrong]) => row("td", `Published: ${where}`, "", rounded(value), wrong));
  }
  return node;
}

function quantile(marks, share) {
  const values = marks.map(([value]) => value).sort((a, b) => a - b);
  const place = share * (values.length - 1);
  const below = Math.floor(place);
  return values[below] + (place - below) * (values[Math.ceil(place)] - values[below]);
}

function rounded(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function say(words) {
  element("said").textContent = words;
}

async function press(button) {
  const undo = button.getAttribute("aria-pressed") === "true";
  try {
    const answer = await fetch("desk", {
      method: "POST", headers: { "X-Live": "1" }, body: undo ? button.dataset.undo : button.dataset.do,
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    // At once: the next press may come before the wall does.
    if (button.dataset.undo) button.setAttribute("aria-pressed", String(!undo));
    say("");
  } catch (error) {
    say(`Not done: ${error.message}`);
  }
}

for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => press(button));
}
element("full").addEventListener("click", () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
});
phone.addEventListener("change", () => shown.now && show(shown));
follow();
