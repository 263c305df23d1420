/* The page of a report. Texts of episodes enter it as text nodes only; what is shown is a function of `data` and `state`. */

const ROW = 30; // pixels, a row of the list
const ATTEMPTS = "attempts"; // beside an episode: all of its run at the task
const DIGITS = { // behind the point
  ...Object.fromEntries(["success", "score", "pass", "all", "any", "paper"].map((key) => [key, 3])),
  ...Object.fromEntries(["low", "high", "least", "most", "invalid", "truncated", "refused", "cut"].map((key) => [key, 2])),
  turns: 1, tokens: 0,
};
const KINDS = ["kind", "difficulty", "family", "scenario", "mean"]; // of the results' lines, in their order
const FILTERS = ["run", "family", "outcome", "fault", "q", "text"];
const WORDS = { solved: "✓ solved", unsolved: "✗ not solved", truncated: "✗ truncated", refused: "✗ refused", fault: "⚠ fault" };

const data = { runs: [], entries: [], shown: [] };
const state = { run: "", family: "", outcome: "", fault: "", q: "", text: "", sort: "", episode: null, beside: null };
let active = 0; // position in data.shown
let besideRun = null; // whose episodes are shown beside, as long as one episode after another is read

const dot = (run) => make("span", { class: `dot run-${run % 6}`, title: data.runs[run].name }, data.runs[run].name);

/* Data */

const family = (entry) => [entry.scenario, entry.family].filter(Boolean).join(" · ");
const same = (a, b) => ["suite", "scenario", "family", "env_id", "task_id"].every((key) => a[key] === b[key]);

function outcome(entry) {
  if (entry.fault) return "fault";
  if (entry.success) return "solved";
  if (entry.end === "refused") return "refused";
  return entry.end === "truncated" || entry.end === "context" ? "truncated" : "unsolved";
}

function fits(entry) {
  const is = outcome(entry);
  const outcomes = {
    "": true,
    unsolved: ["unsolved", "truncated", "refused"].includes(is),
    truncated: ["truncated", "context"].includes(entry.end),
  };
  return (
    (state.run === "" || data.runs[entry.run].name === state.run) &&
    (state.family === "" || family(entry) === state.family) &&
    (outcomes[state.outcome] ?? is === state.outcome) &&
    (state.fault === "" || entry.fault === state.fault) &&
    (state.text === "" || found.numbers.has(entry.number)) &&
    String(entry.task_id).toLowerCase().includes(state.q.toLowerCase())
  );
}

/* The address: filters and the open episode */

let pending = 0;

function toAddress(push) {
  clearTimeout(pending);
  const pairs = Object.entries(state).filter(([key, value]) => value !== "" && value !== null && !(key === "sort" && value === SORT));
  const address = `#${new URLSearchParams(pairs)}`;
  if (address === (location.hash || "#")) return;
  history[push ? "pushState" : "replaceState"](null, "", address);
}

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = given.has("episode") ? Number(given.get("episode")) : NaN;
  state.episode = data.entries[number] ? number : null;
  state.beside = besideOf(given.get("beside") ?? "");
  besideRun = data.entries[state.beside]?.run ?? null;
  for (const name of FILTERS) {
    const field = byId("filters").elements[name];
    field.value = given.get(name) ?? "";
    if (field.selectedIndex === -1) field.value = ""; // a choice that this report does not offer
    state[name] = field.value;
  }
  const sort = given.get("sort") ?? SORT;
  state.sort = Object.hasOwn(VALUES, sort.replace(/^-/, "")) ? sort : SORT;
}

/* What is beside the open episode: another one's number, ATTEMPTS, or null. */
function besideOf(told) {
  if (told === ATTEMPTS) return told;
  return told !== "" && data.entries[Number(told)] ? Number(told) : null;
}

/* Browsers allow few changes of the address a second. */
function remember() {
  clearTimeout(pending);
  pending = setTimeout(() => toAddress(false), 200);
}
