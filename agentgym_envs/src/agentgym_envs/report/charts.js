/* Charts. */

const BOX = { width: 390, height: 220, left: 46, right: 10, top: 18, bottom: 44 };

function axes(label, ticks, summary) {
  const { width, height, left, right, top, bottom } = BOX;
  const y = (share) => top + (1 - share) * (height - top - bottom);
  const made = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": summary });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    made.append(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }));
    made.append(draw("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, share));
  }
  for (const [x, text] of ticks) made.append(draw("text", { x, y: height - bottom + 17, "text-anchor": "middle" }, text));
  made.append(draw("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, label));
  return { made, y };
}

function steps(most) {
  const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500].find((s) => most / s <= 8) ?? Math.ceil(most / 8);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

function horizonChart(byRun) {
  const most = Math.max(1, ...byRun.flatMap(([, episodes]) => episodes.map((e) => e.turns)));
  const x = (turn) => BOX.left + (turn / most) * (BOX.width - BOX.left - BOX.right);
  const ticks = steps(most).map((t) => [x(t), t]);
  const { made, y } = axes("turns", ticks, "share of episodes solved within a number of turns");
  const legend = make("ul", { class: "legend quiet" });
  for (const [run, episodes] of byRun) {
    const solved = new Array(most + 1).fill(0);
    for (const e of episodes) if (e.success) solved[e.turns] += 1;
    let sum = 0;
    const line = solved.map((n, t) => `${t ? `H${x(t)}` : `M${x(0)} `}${t ? "V" : ""}${y((sum += n) / episodes.length)}`);
    const look = `curve run-${run % 6} dash-${run % 4}`;
    made.append(draw("path", { class: look, d: line.join("") }, draw("title", {}, data.runs[run].name)));
    const tasks = unique(episodes.map((e) => `${e.env_id} ${e.task_id}`)).length;
    const told = ` ${written("success", sum / episodes.length)} of ${counted(episodes.length, "episode")}, ${counted(tasks, "task")}`;
    legend.append(make("li", {}, dot(run), told));
  }
  const caption = make("figcaption", {}, "Solved within t turns", make("div", { class: "quiet" }, "share of the episodes"));
  return make("figure", {}, caption, made, legend);
}

/* Ranges of difficulty: each its own while there are few, else at most eight with about as many episodes. */
function ranges(episodes) {
  const values = episodes.map((e) => e.difficulty).sort((a, b) => a - b);
  const distinct = unique(values);
  const eighths = Array.from({ length: 8 }, (_, i) => values[Math.floor((i * values.length) / 8)]);
  const starts = distinct.length <= 8 ? distinct : unique(eighths);
  return starts.map((low, i) => [low, i + 1 < starts.length ? distinct[distinct.indexOf(starts[i + 1]) - 1] : distinct.at(-1)]);
}

function difficultyChart(env, byRun) {
  const here = byRun.map(([run, episodes]) => [run, episodes.filter((e) => e.env_id === env && typeof e.difficulty === "number")]);
  const all = here.flatMap(([, episodes]) => episodes);
  if (!all.length) return null;
  const bins = ranges(all);
  const wide = (BOX.width - BOX.left - BOX.right) / bins.length;
  const bar = Math.min(36, (wide * 0.8) / here.length);
  const middle = (i) => BOX.left + (i + 0.5) * wide;
  const ticks = bins.map(([low, high], i) => [middle(i), low === high ? low : `${low}–${high}`]);
  const { made, y } = axes("difficulty, in the environment's own unit", ticks, `success by difficulty in ${env}`);
  bins.forEach(([low, high], i) =>
    here.forEach(([run, episodes], column) => {
      const some = episodes.filter((e) => e.difficulty >= low && e.difficulty <= high);
      if (!some.length) return;
      const share = some.filter((e) => e.success).length / some.length;
      const left = middle(i) + (column - here.length / 2) * bar;
      const told = `${data.runs[run].name}: ${written("success", share)} of ${counted(some.length, "episode")}`;
      const shape = { class: `bar run-${run % 6}`, x: left + 1, y: y(share) - 1, width: bar - 2, height: y(0) - y(share) + 1 };
      made.append(draw("rect", shape, draw("title", {}, told)));
      made.append(draw("text", { x: left + bar / 2, y: Math.max(y(share) - 4, 9), "text-anchor": "middle" }, some.length));
    }),
  );
  const told = make("div", { class: "quiet" }, "over a bar: its episodes");
  return make("figure", {}, make("figcaption", {}, `Success by difficulty: ${env}`, told), made);
}

function showCharts() {
  const played = data.entries.filter((e) => !e.fault && (state.family === "" || family(e) === state.family));
  const byRun = data.runs.map((_, run) => [run, played.filter((e) => e.run === run)]).filter(([, episodes]) => episodes.length);
  const envs = unique(played.map((e) => e.env_id));
  byId("scope").textContent = `${state.family || "all families"}; faults are left out`;
  const none = ["No episode here came to an end."];
  const charts = byRun.length ? [horizonChart(byRun), ...envs.map((env) => difficultyChart(env, byRun))] : none;
  byId("charts").replaceChildren(...charts.filter((chart) => chart !== null));
}
