/* The list: only the rows in sight are elements. */

function apply() {
  data.shown = data.entries.filter(fits);
  active = Math.max(0, data.shown.findIndex((e) => e.number === state.episode));
  byId("count").textContent = `${data.shown.length.toLocaleString("en")} of ${data.entries.length.toLocaleString("en")}`;
  byId("rows").style.height = `${data.shown.length * ROW}px`;
  reveal();
}

function choose(changes, jump = false) {
  const charts = (changes.family ?? state.family) !== state.family;
  Object.assign(state, changes);
  for (const name of FILTERS) byId("filters").elements[name].value = state[name];
  byId("list").scrollTop = 0;
  apply();
  if (charts) showCharts();
  if (jump) byId("filters").scrollIntoView();
  remember();
}

function listRow(i) {
  const entry = data.shown[i];
  const is = outcome(entry);
  const score = entry.fault ? null : written("score", entry.score);
  const numbers = [entry.attempt, entry.difficulty, score, entry.turns, entry.invalid];
  const cells = [
    make("span", { class: is }, WORDS[is]),
    dot(entry.run),
    make("span", { title: family(entry) }, family(entry)),
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
