/* An episode, and others of its task beside it. */

/* The requests to the model after this many turns: the messages that each added, and its reply. */
function requestsAt(content, turns) {
  const here = (content.requests ?? []).filter((request) => request.turn === turns);
  if (!here.length) return [];
  const blocks = here.flatMap((request) => [
    ...request.added.map((message) => block("observation", message.role, message.text)),
    request.reasoning ? block("thought", "reasoning", request.reasoning) : null,
    block("action", "reply", request.reply),
  ]);
  const summary = make("summary", { class: "quiet" }, `${counted(here.length, "request")} to the model`);
  return [make("details", { class: "requests" }, summary, ...blocks)];
}

function withRequests(cards, content) {
  cards.forEach((card, turns) => card.append(...requestsAt(content, turns)));
  return cards;
}

function lastCard(entry, content) {
  const what = entry.fault ? `${entry.fault} fault` : ENDS[entry.end] ?? entry.end;
  const is = make("span", { class: outcome(entry) }, WORDS[outcome(entry)]);
  const header = make("header", {}, make("h4", {}, "End"), is, make("span", { class: "quiet" }, what));
  const last = entry.fault ? null : block("observation", "last observation", content.last ?? "");
  const error = entry.fault || content.error ? block("error", "error", content.error ?? "") : null;
  const trace = content.traceback ? block("error", "traceback", content.traceback) : null;
  return make("article", { class: "turn" }, header, last, error, trace);
}

function headCard(entry, content) {
  const is = outcome(entry);
  const usage = content.usage?.calls ? content.usage : null; // an agent without a model uses nothing
  const facts = [
    `attempt ${entry.attempt}`,
    entry.fault ? `try ${entry.try}` : `score ${written("score", entry.score)}`,
    counted(entry.turns, "turn"),
    entry.invalid ? `${entry.invalid} invalid` : null,
    `difficulty ${entry.difficulty}`,
    usage ? counted(usage.calls, "call") : null,
    usage ? `${usage.prompt_tokens.toLocaleString("en")} + ${usage.completion_tokens.toLocaleString("en")} tokens` : null,
    entry.cost ? `cost ${costs(entry.cost)}` : null,
    typeof content.seconds === "number" ? `${content.seconds.toFixed(1)} s` : null,
  ];
  const where = unique([entry.suite, entry.scenario, entry.family, entry.env_id]).filter(Boolean).join(" · ");
  return make(
    "div",
    { class: "head" },
    make("div", {}, dot(entry.run)),
    make("h3", {}, String(entry.task_id)),
    make("div", {}, make("span", { class: is }, WORDS[is]), ` · ${facts.filter(Boolean).join(" · ")}`),
    make("div", { class: "quiet" }, where),
    content.goal ? block("goal", "goal", content.goal) : null,
  );
}

const cards = (entry, content) => withRequests([...turnCards(content.turns ?? []), lastCard(entry, content)], content);

function inColumns(sides) {
  const columns = sides.map((side) => ({ turns: side[1].turns ?? [], cards: cards(...side) }));
  const verdicts = sides.length === 2 ? judgements(sides[0][0], sides[1][0]) : [];
  return [...sides.map((side) => headCard(...side)), ...verdicts, ...inRows(columns)];
}

function showBeside(entry) {
  const others = data.entries.filter((e) => e !== entry && same(e, entry));
  const result = (e) => (e.fault ? `${WORDS.fault}, try ${e.try}` : `${WORDS[outcome(e)]}, ${counted(e.turns, "turn")}`);
  const word = (e) => `${data.runs[e.run].name}, attempt ${e.attempt}: ${result(e)}`;
  others.sort((a, b) => (b.attempt === entry.attempt) - (a.attempt === entry.attempt) || a.number - b.number);
  const options = others.map((e) => make("option", { value: e.number }, word(e)));
  const all = attempts(entry).length;
  if (all > 1) options.push(make("option", { value: ATTEMPTS }, `all ${all} attempts of ${data.runs[entry.run].name}`));
  byId("beside").replaceChildren(make("option", { value: "" }, "nothing"), ...options);
  if (state.beside === ATTEMPTS ? all < 2 : !others.includes(data.entries[state.beside])) state.beside = null;
  byId("beside").value = state.beside ?? "";
  byId("beside").parentElement.hidden = !others.length;
}

/* All attempts of an episode's run at its task that came to an end. */
function attempts(entry) {
  const found = data.entries.filter((e) => e.run === entry.run && !e.fault && same(e, entry));
  return [...new Map(found.map((e) => [e.attempt, e])).values()].sort((a, b) => a.attempt - b.attempt);
}

/* Keeps a run beside while moving on: the same attempt of it. */
function companion(entry) {
  const fitting = (e) => e !== entry && e.run === besideRun && e.attempt === entry.attempt && same(e, entry) && !e.fault;
  return data.entries.find(fitting)?.number ?? null;
}

function showPosition(entry) {
  const shown = data.shown.includes(entry);
  byId("position").textContent = shown ? `${active + 1} of ${data.shown.length}` : "not among the filtered";
  byId("previous").disabled = active === 0;
  byId("next").disabled = active >= data.shown.length - 1;
}

async function showEpisode() {
  const { episode, beside } = state;
  const entry = data.entries[episode];
  const together = beside === ATTEMPTS ? attempts(entry) : [entry, data.entries[beside]].filter(Boolean);
  const sides = await Promise.all(together.map(async (e) => [e, await texts(e)]));
  if (state.episode !== episode || state.beside !== beside) return;
  showPosition(entry);
  byId("sides").className = sides.length > 1 ? "two" : "";
  byId("sides").style.setProperty("--columns", sides.length);
  byId("sides").replaceChildren(...inColumns(sides));
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
  const beside = state.beside === ATTEMPTS ? ATTEMPTS : companion(data.entries[number]);
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
