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
  if (SHARES.includes(key)) return `${(100 * value).toFixed(1)} %`;
  const digits = { turns: 1, score: 3 }[key] ?? (Number.isInteger(value) ? 0 : 3);
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

function resultCell(key, row) {
  const text = written(key, row[key]);
  const known = family(row);
  if (key === "family" && data.entries.some((entry) => family(entry) === known))
    return make("td", {}, button(text, () => choose({ family: known }, true)));
  return make("td", typeof row[key] === "number" || text === "–" ? { class: "number" } : {}, text);
}

function showTable() {
  const labels = new Map(data.runs.flatMap((run) => run.columns));
  const rows = data.runs.flatMap((run, number) => run.table.map((row) => ({ number, row })));
  byId("results").hidden = !rows.length;
  const keys = [...labels.keys()];
  const names = keys.filter((key) => key === "scenario" || key === "family");
  const others = keys.filter((key) => !names.includes(key));
  const several = data.runs.length > 1;
  const numeric = (key) => rows.every(({ row }) => typeof (row[key] ?? 0) === "number");
  const head = (key) => make("th", numeric(key) && !names.includes(key) ? { class: "number" } : {}, labels.get(key));
  const ranged = rows.some(({ row }) => typeof row.low === "number");
  const extra = [several ? make("th", {}, "Run") : null, ranged ? make("th") : null];
  const table = make("table", {}, make("tr", {}, ...names.map(head), ...extra, ...others.map(head)));
  for (const name of unique(rows.map(({ row }) => family(row)))) {
    const group = rows.filter(({ row }) => family(row) === name);
    group.forEach(({ number, row }, i) => {
      const first = names.map((key) => (i ? make("td") : resultCell(key, row)));
      const run = several ? make("td", {}, dot(number)) : null;
      const cells = [...first, run, ranged ? interval(row, number) : null, ...others.map((key) => resultCell(key, row))];
      table.append(make("tr", i < group.length - 1 ? { class: "follows" } : {}, ...cells));
    });
  }
  byId("table").replaceChildren(table);
}
