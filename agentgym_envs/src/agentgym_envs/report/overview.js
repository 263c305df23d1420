/* Settings and results. */

function flat(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, JSON.stringify(value)]];
  const inner = Object.entries(value);
  return inner.length ? inner.flatMap(([key, v]) => flat(v, path ? `${path}.${key}` : key)) : [[path, JSON.stringify(value)]];
}

function showSettings() {
  const settings = data.runs.map((run) => new Map(flat(run.settings)));
  const rows = unique(settings.flatMap((s) => [...s.keys()])).map((key) => {
    const values = settings.map((s) => s.get(key) ?? "");
    const differs = new Set(values).size > 1 ? { class: "differs" } : {};
    return make("tr", {}, make("td", {}, key), ...values.map((v) => make("td", differs, v)));
  });
  const heads = data.runs.map((_, run) => make("th", {}, dot(run)));
  byId("settings").replaceChildren(make("table", {}, make("tr", {}, make("th", {}, ""), ...heads), ...rows));
}

function written(key, value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const digits = DIGITS[key] ?? (Number.isInteger(value) ? 0 : 3);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function interval(row, run) {
  if (typeof row.low !== "number" || typeof row.high !== "number") return make("td");
  const at = (share) => 5 + 90 * share;
  const line = { class: "curve", y1: 8, y2: 8, x1: at(row.low), x2: at(row.high) };
  const whole = draw("line", { class: "grid", y1: 8, y2: 8, x1: at(0), x2: at(1) });
  const point = typeof row.success === "number" ? draw("circle", { cx: at(row.success), cy: 8, r: 4, class: "bar" }) : null;
  const label = `${written("low", row.low)} to ${written("high", row.high)}`;
  const size = { width: 100, height: 16, class: `run-${run % 6}`, role: "img", "aria-label": label };
  return make("td", {}, draw("svg", size, whole, draw("line", line), point));
}

const kind = (row) => row.kind ?? "family";
const group = (row) => `${kind(row)} ${row.group ?? family(row)}`;

/* The name of the only family, which its lines by kind and by difficulty need not repeat. */
function onlyFamily() {
  const names = unique(data.runs.flatMap((run) => run.table.filter((row) => kind(row) === "family").map((row) => row.family)));
  return names.length === 1 ? `${names[0]}, ` : "";
}

function resultText(key, row) {
  if (key === "family") return String(row.family ?? "–").replace(onlyFamily(), "");
  const ends = { interval: ["low", "high"], bounds: ["least", "most"] }[key];
  if (ends) return ends.every((end) => typeof row[end] === "number") ? ends.map((end) => written(end, row[end])).join("–") : "–";
  const power = { pass: "@", all: "^" }[key];
  return written(key, row[key]) + (power && row.k ? ` ${power}${row.k}` : "");
}

function resultCell(key, row) {
  const text = resultText(key, row);
  const known = family(row);
  const look = key === "family" ? { class: "name" } : key === "scenario" ? {} : { class: "number" };
  if (key === "family" && kind(row) === "family" && data.entries.some((entry) => family(entry) === known))
    return make("td", look, button(breakable(text), () => choose({ family: known }, true)));
  const named = key === "scenario" || key === "family";
  return make("td", look, ...(named && row[key] === undefined ? [] : breakable(text)));
}

/* The columns of all runs; a column that the first run lacks is behind the one before it in its own run. */
function merged(all) {
  const keys = [];
  for (const columns of all)
    columns.forEach(([key], i) => keys.includes(key) || keys.splice(i ? keys.indexOf(columns[i - 1][0]) + 1 : 0, 0, key));
  return keys;
}

function showTable() {
  const labels = new Map(data.runs.flatMap((run) => run.columns));
  const rows = data.runs.flatMap((run, number) => run.table.map((row) => ({ number, row })));
  rows.sort((a, b) => KINDS.indexOf(kind(a.row)) - KINDS.indexOf(kind(b.row)));
  byId("results").hidden = !rows.length;
  const keys = merged(data.runs.map((run) => run.columns)).filter((key) => key !== "scenario" || rows.some(({ row }) => row.scenario));
  const names = keys.filter((key) => key === "scenario" || key === "family");
  const others = keys.filter((key) => !names.includes(key));
  const several = data.runs.length > 1;
  const head = (key) => make("th", names.includes(key) ? {} : { class: "number" }, labels.get(key));
  const ranged = rows.some(({ row }) => typeof row.low === "number");
  const extra = [several ? make("th", {}, "Run") : null, ranged ? make("th") : null];
  const table = make("table", {}, make("tr", {}, ...names.map(head), ...extra, ...others.map(head)));
  for (const name of unique(rows.map(({ row }) => group(row)))) {
    const together = rows.filter(({ row }) => group(row) === name);
    together.forEach(({ number, row }, i) => {
      const told = (key) => i > 0 && row[key] === together[i - 1].row[key];
      const first = names.map((key) => (told(key) ? make("td") : resultCell(key, row)));
      const run = several ? make("td", { class: "run" }, dot(number)) : null;
      const cells = [...first, run, ranged ? interval(row, number) : null, ...others.map((key) => resultCell(key, row))];
      table.append(make("tr", i < together.length - 1 ? { class: "follows" } : {}, ...cells));
    });
  }
  byId("table").replaceChildren(table);
  hint();
}

/* Says how many columns a reader must scroll to. */
function hint() {
  const { left, width } = byId("table").getBoundingClientRect();
  const heads = [...byId("table").querySelectorAll("th")];
  const hidden = heads.filter((head) => head.textContent && head.getBoundingClientRect().right > left + width + 8).length;
  byId("more").hidden = !hidden;
  byId("more").textContent = `${counted(hidden, "more column")} to the right: scroll the table sideways →`;
}

function showWarnings() {
  const several = data.runs.length > 1;
  const told = data.runs.flatMap(({ warning }, run) => (warning ? [make("p", {}, several ? dot(run) : null, several ? ": " : null, warning)] : []));
  byId("warnings").replaceChildren(...told);
}

function showNotes() {
  const told = unique(data.runs.flatMap((run) => run.notes)).map((note) => {
    const concerned = data.runs.flatMap((run, number) => (run.notes.includes(note) ? [number] : []));
    const names = data.runs.length > 1 ? concerned.flatMap((run, i) => [dot(run), i + 1 < concerned.length ? " " : ": "]) : [];
    return make("p", {}, ...names, note);
  });
  byId("notes").replaceChildren(...told, ...(data.legend ? [make("p", {}, data.legend)] : []));
}

function showSections() {
  const made = data.sections.map(({ title, columns, lines, notes }) => {
    const cell = (tag) => (text, i) => make(tag, i ? { class: "number" } : {}, text ?? "");
    const heads = make("tr", {}, ...columns.map(([, label]) => label).map(cell("th")));
    const rows = lines.map((line) => make("tr", {}, ...columns.map(([key]) => line[key]).map(cell("td"))));
    const table = lines.length ? make("div", { class: "wide" }, make("table", {}, heads, ...rows)) : null;
    return make("section", {}, make("h2", {}, title), table, ...notes.map((note) => make("p", { class: "quiet" }, note)));
  });
  byId("sections").replaceChildren(...made);
}
