"use strict";
// Asks for the wall again and again. The server has filled and escaped all HTML that comes.

const element = (id) => document.getElementById(id);
const phone = matchMedia("(max-width: 700px)");
const EVERY_MS = 250;
let now = "";
let lost = 0;

async function follow() {
  try {
    const asked = new URLSearchParams({ since: now, narrow: phone.matches ? "1" : "0" });
    const answer = await fetch(`state?${asked}`, { signal: AbortSignal.timeout(5000) });
    if (answer.status === 200) show(await answer.json());
    else if (answer.status !== 204) throw new Error(answer.status);
    if (lost) say("");
    lost = 0;
  } catch {
    // The server may be starting again; the page stays as it is until then.
    lost += 1;
    if (lost === 5) say("No connection to the class. The page stays as it is and goes on by itself.");
  }
  setTimeout(follow, EVERY_MS);
}

function show(said) {
  now = said.now;
  element("stage").innerHTML = said.stage;
  element("table").innerHTML = said.table;
  element("join").textContent = said.join || "closed to newcomers";
  for (const [name, on] of Object.entries(said.pressed ?? {})) {
    document.querySelector(`[data-do="${name}"]`).setAttribute("aria-pressed", String(on));
  }
  if (said.refused) {
    element("refused").replaceChildren(...said.refused.map((words) => {
      const item = document.createElement("li");
      item.textContent = words;
      return item;
    }));
  }
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
    say(button.dataset.do === "write" ? "class.csv is written." : "");
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
phone.addEventListener("change", () => { now = ""; });
follow();
