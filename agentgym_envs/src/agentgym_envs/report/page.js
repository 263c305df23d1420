/* Keyboard, forms, start. */

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const opened = state.episode !== null;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (opened) close();
    else if (typing) byId("list").focus();
    return;
  }
  if (typing) return;
  const onPage = !opened && event.target === document.body;
  const inList = !opened && event.target === byId("list");
  const moves = { j: 1, k: -1 };
  if (inList) Object.assign(moves, { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 });
  if (opened) Object.assign(moves, { ArrowRight: 1, ArrowLeft: -1 });
  if (moves[event.key]) move(moves[event.key]);
  else if (event.key === "Enter" && (inList || onPage) && data.shown[active]) open(data.shown[active].number, true);
  else if (event.key === "/" && !opened) byId("filters").elements.q.focus();
  else return;
  event.preventDefault();
}

function listen() {
  const form = byId("filters");
  form.addEventListener("input", () => choose(Object.fromEntries(FILTERS.map((name) => [name, form.elements[name].value]))));
  form.addEventListener("reset", () => choose(Object.fromEntries(FILTERS.map((name) => [name, ""]))));
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("list").addEventListener("scroll", showRows);
  byId("close").addEventListener("click", close);
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("beside").addEventListener("input", () => {
    state.beside = besideOf(byId("beside").value);
    besideRun = data.entries[state.beside]?.run ?? null;
    show();
    remember();
  });
  document.addEventListener("keydown", pressed);
  addEventListener("popstate", follow);
  addEventListener("resize", showRows);
  byId("table").addEventListener("scroll", hint);
  new ResizeObserver(hint).observe(byId("table"));
}

function follow() {
  fromAddress();
  showHeads();
  apply();
  searchSoon();
  showCharts();
  show();
}

function offer(name, values, labels) {
  const options = values.map((value, i) => make("option", { value }, labels[i]));
  const field = byId("filters").elements[name];
  field.replaceChildren(make("option", { value: "" }, name === "fault" ? "any" : "all"), ...options);
  field.value = state[name];
  field.parentElement.hidden = values.length < (name === "run" ? 2 : 1);
}

function fail(error) {
  byId("problem").hidden = false;
  byId("problem").textContent = `This report cannot be shown: ${error.message}`;
  throw error;
}

function offerAll() {
  const names = data.runs.map((run) => run.name);
  offer("run", names, names);
  const families = unique(data.entries.map(family));
  offer("family", families, families);
  const faults = unique(data.entries.filter((e) => e.fault).map((e) => e.fault)).sort();
  offer("fault", faults, faults);
}

function showOverview() {
  const names = data.runs.map((run) => run.name);
  document.title = [names.join(" and "), "evaluation report"].filter(Boolean).join(" – ");
  document.body.classList.toggle("single", names.length < 2);
  byId("runs").replaceChildren(...data.runs.map((_, run) => make("li", {}, dot(run), make("span", { class: "quiet" }))));
  showSettings();
  showWarnings();
  showTable();
  showNotes();
  showSections();
  showComparisons();
}

function add(entries) {
  entries.forEach((entry) => data.entries.push(Object.assign(entry, { number: data.entries.length })));
  document.body.classList.toggle("free", !data.entries.some((entry) => entry.cost));
  document.body.classList.toggle("modelless", !data.entries.some((entry) => entry.tokens));
}

async function start() {
  if (!("DecompressionStream" in window)) throw new Error("the browser is older than 2023 and cannot unpack it.");
  const { entries, ...overview } = await load();
  Object.assign(data, overview);
  add(entries);
  offerAll();
  showOverview();
  listen();
  follow();
  document.body.dataset.ready = "yes";
}
