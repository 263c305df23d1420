/* The data comes from agentgym view, which follows runs that may still be played. */

const SORT = "-number"; // the order of the list at first: the newest first
const WAIT = 2000; // milliseconds between questions
const known = { version: 0, counted: -1, live: [] };

async function ask(place, given) {
  const answer = await fetch(`${place}?${new URLSearchParams(given)}`);
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.error);
  return reply;
}

const news = () => ask("news", { version: known.version, start: data.entries.length, shown: known.counted });
const texts = (entry) => ask("episode", { number: entry.number });
const search = (text, start) => ask("search", { text, start });

async function load() {
  const reply = await news();
  keep(reply);
  return { ...reply.overview, entries: reply.entries };
}

function keep(reply) {
  Object.assign(known, { version: reply.version, counted: reply.counted });
  const age = reply.age === null ? "no episode yet" : `last episode ${ago(reply.age)}`;
  const states = unique(reply.live.map(stateOf));
  const live = reply.live.filter((is) => is).length;
  const state = states.length < 2 ? stateOf(reply.live[0]) : `${live} of ${counted(reply.live.length, "run")} live`;
  byId("live").replaceChildren(make("span", { class: live ? "solved" : "quiet" }, live ? "●" : "○"), ` ${[state, age].filter(Boolean).join(", ")}`);
  known.live = reply.live;
  byId("problem").hidden = !reply.problems.length;
  byId("problem").textContent = reply.problems.join("\n");
}

/* Whether a process plays a run: null if that cannot be known, undefined without a run. */
const stateOf = (is) => ({ true: "live", false: "ended" })[is] ?? "";

/* Says of each of several runs whether it is live. */
function showStates() {
  if (known.live.length < 2) return;
  document.querySelectorAll("#runs span.quiet").forEach((span, run) => (span.textContent = ` ${stateOf(known.live[run])}`));
}

function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

function take(reply) {
  if (reply.version !== known.version) location.reload(); // a file was replaced
  keep(reply);
  if (reply.overview) Object.assign(data, reply.overview);
  add(reply.entries);
  if (reply.overview) showOverview();
  showStates();
  if (!reply.entries.length) return;
  offerAll();
  refresh();
  showCharts();
  findTexts();
}

async function watch() {
  byId("live").hidden = false;
  showStates();
  for (;;) {
    await new Promise((wake) => setTimeout(wake, WAIT));
    try {
      take(await news());
    } catch (error) {
      const why = error instanceof TypeError ? "agentgym view does not answer; is it still running?" : error.message;
      byId("problem").hidden = false;
      byId("problem").textContent = `The page does not follow the runs: ${why}`;
    }
  }
}

start().then(watch).catch(fail);
