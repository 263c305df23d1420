/* What people think of two episodes of a task. */

const CHOSEN = { tie: "equally good", neither: "neither is good" };

/* A side of a pair: its run and attempt, and what came of it where the report has it. */
function sideCell({ run, attempt, number }) {
  const entry = data.entries[number];
  const name = entry ? dot(entry.run) : run;
  const is = entry ? make("span", { class: outcome(entry) }, WORDS[outcome(entry)]) : null;
  return make("td", {}, name, make("span", { class: "quiet" }, ` attempt ${attempt} `), is);
}

function choiceText({ annotator, choice, comment }) {
  const told = CHOSEN[choice] ?? `${choice.toUpperCase()} is better`;
  return `${annotator}: ${told}${comment ? ` – ${comment}` : ""}`;
}

const choiceList = (pair) => pair.choices.map((choice) => make("div", {}, choiceText(choice)));

function openPair({ a, b }) {
  toAddress(false);
  Object.assign(state, { episode: a.number, beside: b.number });
  besideRun = data.entries[b.number].run;
  active = Math.max(0, data.shown.findIndex((e) => e.number === a.number));
  show();
  toAddress(true);
}

function pairRow(pair) {
  const there = data.entries[pair.a.number] && data.entries[pair.b.number];
  const task = there ? button(pair.task_id, () => openPair(pair)) : pair.task_id;
  const choices = make("td", {}, ...choiceList(pair));
  return make("tr", {}, make("td", {}, task), sideCell(pair.a), sideCell(pair.b), choices);
}

function showComparisons() {
  const { pairs, notes } = data.comparisons;
  byId("comparisons").hidden = !pairs.length;
  const heads = ["Task", "A", "B", "Choices"].map((head) => make("th", {}, head));
  const table = make("table", {}, make("tr", {}, ...heads), ...pairs.map(pairRow));
  const told = notes.map((note) => make("p", { class: "quiet" }, note));
  byId("comparisons").replaceChildren(make("h2", {}, "Comparisons"), ...told, make("div", { class: "wide" }, table));
}

/* The choices between two episodes that are beside each other; the left one need not be A. */
function judgements(left, right) {
  const both = [left.number, right.number];
  const fits = ({ a, b }) => both.includes(a.number) && both.includes(b.number) && a.number !== b.number;
  return data.comparisons.pairs.filter(fits).map((pair) => {
    const [here, there] = left.number === pair.a.number ? "AB" : "BA";
    return make("div", { class: "judgement" }, make("b", {}, `Left is ${here}, right is ${there}.`), ...choiceList(pair));
  });
}
