/* Plays the samples of two saved runs, one after the other, on a page of the gallery.
 *
 * The page holds both plots as pictures, and the samples as JSON. Without this script the pictures
 * are all there is to see. Nothing is loaded, and nothing is kept. */
"use strict";

const UNITS = [["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const LEFT = 74, RIGHT = 12, TOP = 10, BOTTOM = 34, HEIGHT = 300;
/* Milliseconds between two steps of a playing run, and how many steps a whole run takes. */
const STEP_MS = 60, STEPS = 120;

function asText(ns) {
  const [unit, length] = UNITS.find(([, each]) => Math.abs(ns) >= each) || UNITS[2];
  return `${Number((ns / length).toPrecision(3)).toLocaleString("en")} ${unit}`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function element(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

/* The ends of the logarithmic axis that both runs share, as powers of ten. Such an axis has no place
 * for 0: if a sample is 0 or less, the lowest line, called `floor`, stands for that. */
function axisOf(runs) {
  const all = Object.values(runs).flatMap((run) => run.ns), above = all.filter((each) => each > 0);
  const least = all.reduce((one, other) => Math.min(one, other), Infinity);
  const floor = least > 0 ? "" : least < 0 ? "0 or less" : "0 ns";
  const begin = above.length ? Math.floor(Math.log10(Math.min(...above))) : 0;
  const end = above.length ? Math.ceil(Math.log10(Math.max(...above))) : 0;
  return { low: floor ? begin - 1 : begin, high: Math.max(begin + 1, end), floor };
}

class Player {
  constructor(data, pictures) {
    this.runs = JSON.parse(data.textContent);
    this.axis = axisOf(this.runs);
    this.kind = "broken";
    this.build();
    pictures.before(this.box);
    pictures.replaceWith(
      element("details", {}, element("summary", {}, "Both plots, with their batch sizes"), pictures.cloneNode(true)));
    this.show(this.run.ns.length);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    new MutationObserver(() => this.draw()).observe(document.body, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  get run() {
    return this.runs[this.kind];
  }

  build() {
    this.choices = Object.keys(this.runs).map((kind) => {
      const button = element("button", { type: "button" }, kind[0].toUpperCase() + kind.slice(1));
      button.addEventListener("click", () => this.choose(kind));
      return [kind, button];
    });
    this.playing = element("button", { type: "button" }, "Play");
    this.playing.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    this.next = element("button", { type: "button" }, "Next process");
    this.next.addEventListener("click", () => this.nextProcess());
    this.slider = element("input", { type: "range", min: 1, max: 1 });
    this.slider.addEventListener("input", () => { this.stop(); this.show(Number(this.slider.value)); });
    this.canvas = element("canvas", { role: "img" });
    this.label = element("p", {});
    this.status = element("p", { role: "status" });
    const run = element("div", { role: "group", "aria-label": "Which run" }, ...this.choices.map(([, each]) => each));
    const slider = element("label", {}, element("span", {}, "Samples shown"), this.slider);
    this.box = element("div", { class: "player", role: "group", "aria-label": "The samples of both runs" },
      element("div", { class: "player-controls" }, run, this.playing, this.next, slider),
      this.label, this.canvas, this.status);
  }

  choose(kind) {
    this.stop();
    this.kind = kind;
    this.show(this.run.ns.length);
  }

  play() {
    const last = this.run.ns.length;
    if (this.shown >= last) this.show(1);
    this.status.setAttribute("aria-live", "off");  // or a screen reader would read every step
    this.playing.textContent = "Pause";
    this.timer = setInterval(() => {
      this.show(Math.min(last, this.shown + Math.ceil(last / STEPS)));
      if (this.shown >= last) this.stop();
    }, STEP_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.playing.textContent = "Play";
    this.status.setAttribute("aria-live", "polite");
  }

  /* Up to the end of the process after the one that is shown last; from the end, the first again. */
  nextProcess() {
    this.stop();
    const { process } = this.run;
    const from = this.shown >= process.length ? 0 : this.shown;
    let end = from;
    while (end < process.length && process[end] === process[from]) end++;
    this.show(end);
  }

  show(count) {
    this.shown = count;
    const { ns, process, warm, name, what } = this.run;
    for (const [kind, button] of this.choices) button.setAttribute("aria-pressed", kind === this.kind);
    this.slider.max = ns.length;
    this.slider.value = count;
    const counted = ns.slice(0, count).filter((_, n) => !warm[n]);
    this.middle = counted.length ? median(counted) : null;
    const processes = new Set(process.slice(0, count)).size, all = new Set(process).size;
    const says = this.middle === null ? "So far there is only the warm-up."
      : `The median so far is ${asText(this.middle)}.`;
    this.status.textContent = `${this.kind[0].toUpperCase()}${this.kind.slice(1)}: ${count} of ${ns.length} ` +
      `samples, from ${processes} of ${all} process${all === 1 ? "" : "es"}. ${says}`;
    this.canvas.setAttribute("aria-label", `Scatter plot of ${name}. ${this.status.textContent}`);
    this.label.textContent = `${what[0].toUpperCase()}${what.slice(1)}, on a logarithmic axis. A dot ` +
      "is a sample, " + (warm.some(Boolean) ? "an open square is one of the warm-up, " : "") +
      "and the thick line is the median so far." +
      (this.axis.floor ? ` The lowest line stands for ${this.axis.floor}.` : "");
    this.draw();
  }

  draw() {
    const width = this.canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.width = width * scale;
    this.canvas.height = HEIGHT * scale;
    const paper = this.canvas.getContext("2d");
    paper.scale(scale, scale);
    const style = getComputedStyle(this.box);
    const ink = style.color, line = style.getPropertyValue("--color-foreground-border") || "#888";
    const dark = style.getPropertyValue("color-scheme") === "dark";
    const dots = { broken: dark ? "#ff8a4c" : "#b34700", repaired: dark ? "#6db7ff" : "#005f99" }[this.kind];
    const { low, high, floor } = this.axis, { ns, process, warm } = this.run;
    const x = (n) => LEFT + ((n + 0.5) / ns.length) * (width - LEFT - RIGHT);
    const y = (value) => {
      const share = (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
      return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    };
    paper.font = `13px ${style.fontFamily}`;
    paper.fillStyle = ink;
    paper.fillText("in the order taken, by process", LEFT, HEIGHT - 8);
    for (let power = low; power <= high; power++) {
      const text = floor && power === low ? floor : asText(10 ** power);
      paper.fillText(text, LEFT - 8 - paper.measureText(text).width, y(10 ** power) + 4);
      paper.fillStyle = line;
      paper.fillRect(LEFT, y(10 ** power), width - LEFT - RIGHT, 1);
      paper.fillStyle = ink;
    }
    for (let n = 0; n < this.shown; n++) {
      paper.fillStyle = line;
      if (n && process[n] !== process[n - 1]) paper.fillRect((x(n) + x(n - 1)) / 2, TOP, 1, HEIGHT - TOP - BOTTOM);
      paper.fillStyle = paper.strokeStyle = dots;
      if (warm[n]) paper.strokeRect(x(n) - 2, y(ns[n]) - 2, 4, 4);
      else paper.fillRect(x(n) - 1.5, y(ns[n]) - 1.5, 3, 3);
    }
    if (this.middle !== null) {
      paper.fillStyle = ink;
      paper.fillRect(LEFT, y(this.middle) - 1, width - LEFT - RIGHT, 2);
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const data = document.querySelector(".player-data");
  const pictures = document.querySelector(".player-pictures");
  if (data && pictures) new Player(data, pictures);
});
