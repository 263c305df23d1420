/* Two episodes of a task, and what somebody thinks of them. What is shown is a function of `state`, which the server answers. */

let state = null;
let busy = false; // a judgement is on its way
let here = 0; // the row of turns that the arrows have reached

const annotator = () => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
};

/* The server */

async function asked(place, body) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(place, body && options);
  } catch {
    throw new Error("Nobody answers: is agentgym compare still running? What was judged before is saved.");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function ask(place, body) {
  if (busy) return;
  busy = true;
  try {
    state = await asked(place, body);
    byId("problem").hidden = true;
    show();
  } catch (error) {
    byId("problem").textContent = error.message;
    byId("problem").hidden = false;
    byId("who").hidden = state !== null;
  } finally {
    busy = false;
  }
}

const judge = (choice) =>
  ask("judge", { annotator: annotator(), number: state.question.number, choice, comment: byId("comment").value });
const undo = () => state.done && ask("undo", { annotator: annotator() });

/* What is seen */

function endCard(side) {
  const header = make("header", {}, make("h4", {}, "End"), make("span", { class: "quiet" }, ENDS[side.end] ?? side.end));
  return make("article", { class: "turn" }, header, block("observation", "last observation", side.last));
}

function showPair(question) {
  const columns = [question.left, question.right].map((side) => ({
    turns: side.turns,
    cards: [...turnCards(side.turns), endCard(side)],
  }));
  const heads = [question.left, question.right].map((side, i) =>
    make("div", { class: "side" }, "AB"[i], make("span", { class: "quiet" }, ` ${counted(side.turns.length, "turn")}`)),
  );
  byId("sides").replaceChildren(...heads, ...inRows(columns));
  byId("task").textContent = `${question.env_id} · ${question.task_id}`;
  byId("rules").hidden = !question.instructions;
  byId("instructions").textContent = question.instructions;
  byId("comment").value = question.comment;
  for (const choice of byId("choices").children) choice.setAttribute("aria-pressed", choice.value === question.choice);
  here = 0;
  scrollTo(0, 0);
}

function show() {
  const name = annotator();
  byId("who").hidden = name !== "";
  byId("pair").hidden = name === "" || !state.question;
  byId("done").hidden = name === "" || Boolean(state.question);
  delete document.body.dataset.ready;
  if (name === "") {
    byId("who").elements.name.focus();
    return;
  }
  byId("position").textContent = `${state.done + 1} of ${state.total}`;
  Object.assign(byId("bar"), { max: state.total, value: state.done });
  byId("undo").disabled = byId("back").disabled = !state.done;
  byId("rename").textContent = name;
  byId("total").textContent = `Thank you, ${name}: ${counted(state.total, "pair")}.`;
  byId("agreement").textContent = state.agreement;
  if (state.question) showPair(state.question);
  document.body.style.setProperty("--nav", `${document.querySelector("nav").offsetHeight}px`);
  document.activeElement.blur();
  document.body.dataset.ready = `${name} ${state.done}`;
}

/* Keys */

function turnBy(step) {
  const cards = [...byId("sides").querySelectorAll(".turn")];
  here = Math.min(Math.max(here + step, 0), cards.length / 2 - 1);
  cards.forEach((card, i) => card.classList.toggle("here", Math.floor(i / 2) === here));
  cards[2 * here].scrollIntoView();
}

const help = () => byId("help").showModal();
const ALWAYS = { u: undo, "?": help };
const KEYS = {
  a: () => judge("left"),
  b: () => judge("right"),
  t: () => judge("tie"),
  n: () => judge("neither"),
  c: () => byId("comment").focus(),
  r: () => byId("rules").toggleAttribute("open"),
  ArrowRight: () => turnBy(1),
  ArrowLeft: () => turnBy(-1),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.repeat && !event.key.startsWith("Arrow")) return; // a key that is held judges once
  if (event.target.matches("input")) {
    if (event.target.id === "comment" && ["Enter", "Escape"].includes(event.key)) event.target.blur();
    return;
  }
  const act = ALWAYS[event.key] ?? (state?.question && KEYS[event.key]);
  if (!act || !state) return;
  event.preventDefault();
  act();
}

function rename() {
  location.hash = "";
  follow(); // before the browser tells of it: what is typed meanwhile is a name, not a judgement
}

function follow() {
  state = null;
  if (annotator()) ask(`state?${new URLSearchParams({ annotator: annotator() })}`);
  else show();
}

byId("who").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = encodeURIComponent(byId("who").elements.name.value.trim());
});
byId("choices").addEventListener("click", (event) => {
  const choice = event.target.closest("button");
  if (choice) judge(choice.value);
});
byId("undo").addEventListener("click", undo);
byId("back").addEventListener("click", undo);
byId("rename").addEventListener("click", rename);
byId("other").addEventListener("click", rename);
byId("ask").addEventListener("click", help);
document.addEventListener("keydown", pressed);
addEventListener("hashchange", follow);
follow();
