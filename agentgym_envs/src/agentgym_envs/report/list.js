/* The list: only the rows in sight are elements. */

const HEADS = [
  ["outcome", "Outcome"], ["run", "Run"], ["family", "Family"], ["task", "Task"], ["attempt", "Attempt"], ["difficulty", "Difficulty"],
  ["score", "Score"], ["turns", "Turns"], ["invalid", "Invalid"], ["tokens", "Tokens"], ["cost", "Cost"],
];
const VALUES = { // of an episode by column
  outcome: (e) => WORDS[outcome(e)],
  run: (e) => data.runs[e.run].name,
  family,
  task: (e) => String(e.task_id),
  ...Object.fromEntries(["attempt", "difficulty", "score", "turns", "invalid", "tokens", "cost", "number"].map((key) => [key, (e) => e[key]])),
};
const found = { text: "", upTo: 0, numbers: new Set() }; // episodes whose texts contain the searched one

function compared(a, b) {
  if (typeof a === "string" && typeof b === "string") return byNumber.compare(a, b);
  return (typeof a === "number" ? a : -Infinity) - (typeof b === "number" ? b : -Infinity) || 0;
}

function sorted(entries) {
  const value = VALUES[state.sort.replace(/^-/, "")];
  if (!value) return entries;
  const sign = state.sort.startsWith("-") ? -1 : 1;
  return entries.sort((a, b) => sign * compared(value(a), value(b)));
}

const costs = (cost) => cost.toLocaleString("en", { maximumFractionDigits: 4 });

function filter() {
  data.shown = sorted(data.entries.filter(fits));
  byId("count").textContent = `${data.shown.length.toLocaleString("en")} of ${data.entries.length.toLocaleString("en")}`;
  const sum = (key) => data.shown.reduce((total, entry) => total + (entry[key] || 0), 0);
  const used = [sum("tokens") ? `${sum("tokens").toLocaleString("en")} tokens` : "", sum("cost") ? `cost ${costs(sum("cost"))}` : ""];
  byId("used").textContent = used.filter(Boolean).join(", ");
  byId("rows").style.height = `${data.shown.length * ROW}px`;
}

const placeOf = (number) => Math.max(0, data.shown.findIndex((e) => e.number === number));

function apply() {
  filter();
  active = placeOf(state.episode);
  reveal();
}

/* Shows new episodes; those in sight stay in their place. */
function refresh() {
  const list = byId("list");
  const first = Math.floor(list.scrollTop / ROW);
  const [top, chosen] = [data.shown[first], data.shown[active]];
  filter();
  active = chosen && (active > 0 || state.episode !== null) ? placeOf(chosen.number) : 0;
  if (first > 0 && top) list.scrollTop += (placeOf(top.number) - first) * ROW;
  showRows();
  if (state.episode !== null) showPosition(data.entries[state.episode]);
}

/* Searches the texts of the episodes that have not been searched. */
async function findTexts() {
  const { text } = state;
  if (text !== found.text) Object.assign(found, { text, upTo: 0, numbers: new Set() });
  if (text === "" || found.upTo === data.entries.length) return;
  const start = found.upTo;
  found.upTo = data.entries.length;
  byId("searching").hidden = false;
  const numbers = await search(text, start);
  if (state.text !== text) return;
  for (const number of numbers) found.numbers.add(number);
  byId("searching").hidden = true;
  refresh();
}

let waiting = 0;
function searchSoon() {
  clearTimeout(waiting);
  if (state.text === "") byId("searching").hidden = true;
  waiting = setTimeout(() => findTexts().catch(fail), 250);
}

/* A click sorts from the largest or first, a second one the other way round, a third one not at all. */
function sortBy(key) {
  const numeric = data.entries.some((entry) => typeof VALUES[key](entry) === "number");
  const order = numeric ? [`-${key}`, key] : [key, `-${key}`];
  state.sort = [...order, SORT][order.indexOf(state.sort) + 1];
  showHeads();
  byId("list").scrollTop = 0;
  apply();
  remember();
}

function showHeads() {
  const heads = HEADS.map(([key, label], i) => {
    const sign = { [key]: " ▲", [`-${key}`]: " ▼" }[state.sort] ?? "";
    const made = button(label + sign, () => sortBy(key));
    made.title = `sort by ${label.toLowerCase()}`;
    return make("span", i > 3 ? { class: "number" } : {}, made);
  });
  byId("heads").replaceChildren(...heads);
}

function choose(changes, jump = false) {
  const charts = (changes.family ?? state.family) !== state.family;
  const texts = (changes.text ?? state.text) !== state.text;
  Object.assign(state, changes);
  for (const name of FILTERS) byId("filters").elements[name].value = state[name];
  byId("list").scrollTop = 0;
  apply();
  if (charts) showCharts();
  if (texts) searchSoon();
  if (jump) byId("filters").scrollIntoView();
  remember();
}

function listRow(i) {
  const entry = data.shown[i];
  const is = outcome(entry);
  const score = entry.fault ? null : written("score", entry.score);
  const tokens = entry.tokens ? entry.tokens.toLocaleString("en") : null;
  const cost = entry.cost ? costs(entry.cost) : null;
  const numbers = [entry.attempt, entry.difficulty, score, entry.turns, entry.invalid, tokens, cost];
  const cells = [
    make("span", { class: is }, WORDS[is]),
    dot(entry.run),
    make("span", { title: family(entry), class: "end" }, make("bdi", { dir: "ltr" }, family(entry))),
    make("span", { title: entry.task_id }, String(entry.task_id)),
    ...numbers.map((n) => make("span", { class: "number" }, String(n ?? "–"))),
  ];
  const place = { "aria-selected": i === active, "aria-setsize": data.shown.length, "aria-posinset": i + 1 };
  const row = make("div", { class: "entry", role: "option", id: `entry-${i}`, ...place }, ...cells);
  row.style.top = `${i * ROW}px`;
  row.addEventListener("click", () => open(entry.number, true));
  return row;
}

function showRows() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 6);
  const last = Math.min(data.shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
  const even = first - (first % 2);
  const rows = Array.from({ length: Math.max(0, last - even) }, (_, i) => listRow(even + i));
  if (!rows.length) rows.push(make("div", { class: "none" }, "No episode fits the filters."));
  byId("rows").replaceChildren(...rows);
  list.setAttribute("aria-activedescendant", data.shown.length ? `entry-${active}` : "");
}

function reveal() {
  const list = byId("list");
  const top = active * ROW;
  const room = list.clientHeight - ROW; // below the heads
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + room) list.scrollTop = top + ROW - room;
  showRows();
}

function move(by) {
  active = Math.min(Math.max(active + by, 0), Math.max(data.shown.length - 1, 0));
  if (state.episode === null) {
    byId("list").focus();
    reveal();
  } else if (data.shown[active]) open(data.shown[active].number, false);
}
