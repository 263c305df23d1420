/* An episode. */

function block(kind, label, text) {
  const shown = text.length > LONG ? text.slice(0, CUT) : text;
  const body = make("pre", { class: kind }, shown);
  const made = [make("span", { class: "label" }, label), body];
  if (shown.length < text.length)
    made.push(
      button(`show all ${text.length.toLocaleString("en")} characters`, (event) => {
        body.textContent = text;
        event.target.remove();
      }),
    );
  return make("div", {}, ...made);
}

function picture(turn, number) {
  if (turn.screenshot === null || turn.screenshot === undefined) return null;
  if (turn.screenshot < 0) return make("p", { class: "quiet" }, "The screenshot is not in this report.");
  const source = `data:image/png;base64,${byId(`picture-${turn.screenshot}`).textContent}`;
  return make("img", { src: source, alt: `screenshot before turn ${number}` });
}

function answer(turn) {
  if (!turn.response || turn.response === turn.action) return null;
  const made = make("details", {}, make("summary", { class: "quiet" }, "whole answer"));
  made.addEventListener("toggle", () => made.children.length > 1 || made.append(block("response", "answer", turn.response)));
  return made;
}

const signed = (reward) => (reward ?? 0).toLocaleString("en", { maximumFractionDigits: 3, signDisplay: "exceptZero" });

function turnCard(turn, number) {
  const reward = make("span", { class: turn.reward > 0 ? "solved" : "quiet" }, `reward ${signed(turn.reward)}`);
  const invalid = turn.invalid ? make("span", { class: "invalid" }, "⚠ invalid action") : null;
  const speaker = turn.agent ? make("span", { class: "speaker" }, [turn.agent, turn.player].filter(Boolean).join(": ")) : null;
  return make(
    "article",
    { class: "turn" },
    make("header", {}, make("h4", {}, `Turn ${number}`), speaker, reward, invalid),
    block("observation", "observation", turn.observation),
    picture(turn, number),
    turn.thought ? block("thought", "thought", turn.thought) : null,
    block("action", "action", turn.action),
    answer(turn),
  );
}

function lastCard(entry, told) {
  const what = entry.fault ? `${entry.fault} fault` : ENDS[entry.end] ?? entry.end;
  const is = make("span", { class: outcome(entry) }, WORDS[outcome(entry)]);
  const header = make("header", {}, make("h4", {}, "End"), is, make("span", { class: "quiet" }, what));
  const text = entry.fault ? block("error", "error", told.error ?? "") : block("observation", "last observation", told.last ?? "");
  return make("article", { class: "turn" }, header, text);
}

function headCard(entry, told) {
  const is = outcome(entry);
  const usage = told.usage?.calls ? told.usage : null; // an agent without a model uses nothing
  const facts = [
    `attempt ${entry.attempt}`,
    entry.fault ? `try ${entry.try}` : `score ${written("score", entry.score)}`,
    counted(entry.turns, "turn"),
    entry.invalid ? `${entry.invalid} invalid` : null,
    `difficulty ${entry.difficulty}`,
    usage ? counted(usage.calls, "call") : null,
    usage ? `${usage.prompt_tokens.toLocaleString("en")} + ${usage.completion_tokens.toLocaleString("en")} tokens` : null,
    typeof told.seconds === "number" ? `${told.seconds.toFixed(1)} s` : null,
  ];
  const where = [entry.suite, family(entry), entry.env_id].filter(Boolean).join(" · ");
  return make(
    "div",
    { class: "head" },
    make("div", {}, dot(entry.run)),
    make("h3", {}, String(entry.task_id)),
    make("div", {}, make("span", { class: is }, WORDS[is]), ` · ${facts.filter(Boolean).join(" · ")}`),
    make("div", { class: "quiet" }, where),
    told.goal ? block("goal", "goal", told.goal) : null,
  );
}

const cards = (entry, told) => [...(told.turns ?? []).map((turn, i) => turnCard(turn, i + 1)), lastCard(entry, told)];

function twoSides(left, right) {
  const [a, b] = [cards(...left), cards(...right)];
  const acts = (side, i) => side[1].turns?.[i]?.action;
  let apart = 0;
  while (acts(left, apart) !== undefined && acts(left, apart) === acts(right, apart)) apart += 1;
  const made = [headCard(...left), headCard(...right)];
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    if (i === apart && i < Math.min(a.length, b.length)) made.push(make("div", { class: "apart" }, "the first different action"));
    for (const side of [a, b]) made.push(side[i] ?? make("div", { class: "turn absent" }, "over"));
  }
  return made;
}

function showBeside(entry) {
  const others = data.entries.filter((e) => e !== entry && same(e, entry));
  const result = (e) => (e.fault ? `${WORDS.fault}, try ${e.try}` : `${WORDS[outcome(e)]}, ${counted(e.turns, "turn")}`);
  const word = (e) => `${data.runs[e.run].name}, attempt ${e.attempt}: ${result(e)}`;
  others.sort((a, b) => (b.attempt === entry.attempt) - (a.attempt === entry.attempt) || a.number - b.number);
  const options = others.map((e) => make("option", { value: e.number }, word(e)));
  byId("beside").replaceChildren(make("option", { value: "" }, "nothing"), ...options);
  if (!others.includes(data.entries[state.beside])) state.beside = null;
  byId("beside").value = state.beside ?? "";
  byId("beside").parentElement.hidden = !others.length;
}

/* Keeps a run beside while moving on: the same attempt of it. */
function companion(entry) {
  const fitting = (e) => e !== entry && e.run === besideRun && e.attempt === entry.attempt && same(e, entry) && !e.fault;
  return data.entries.find(fitting)?.number ?? null;
}

async function showEpisode() {
  const { episode, beside } = state;
  const entry = data.entries[episode];
  const sides = await Promise.all([entry, data.entries[beside]].filter(Boolean).map(async (e) => [e, await texts(e)]));
  if (state.episode !== episode || state.beside !== beside) return;
  const shown = data.shown.includes(entry);
  byId("position").textContent = shown ? `${active + 1} of ${data.shown.length}` : "not among the filtered";
  byId("previous").disabled = active === 0;
  byId("next").disabled = active >= data.shown.length - 1;
  byId("sides").className = sides.length > 1 ? "two" : "";
  const made = sides.length > 1 ? twoSides(...sides) : [headCard(...sides[0]), ...cards(...sides[0])];
  byId("sides").replaceChildren(...made);
  byId("sides").dataset.episode = episode;
}

let scrolled = 0;
function show() {
  const opened = state.episode !== null;
  if (opened && byId("episode").hidden) scrolled = scrollY;
  const was = byId("episode").hidden;
  byId("episode").hidden = !opened;
  byId("overview").hidden = opened;
  if (opened) {
    showBeside(data.entries[state.episode]);
    scrollTo(0, 0);
    showEpisode().catch(fail);
  } else {
    byId("sides").replaceChildren();
    delete byId("sides").dataset.episode;
    if (!was) scrollTo(0, scrolled);
    reveal();
  }
}

function open(number, push) {
  if (push) toAddress(false);
  const beside = companion(data.entries[number]);
  Object.assign(state, { episode: number, beside });
  active = Math.max(0, data.shown.findIndex((e) => e.number === number));
  show();
  if (push) toAddress(true);
  else remember();
}

function close() {
  toAddress(false);
  Object.assign(state, { episode: null, beside: null });
  besideRun = null;
  show();
  byId("list").focus({ preventScroll: true });
  toAddress(true);
}
