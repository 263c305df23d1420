/* Turns of an episode. */

const LONG = 4000; // characters; of longer texts the first CUT are shown until asked for more
const CUT = 2500;
const ENDS = { terminated: "ended", truncated: "out of turns", context: "out of context", refused: "refused", gave_up: "gave up" };

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
  const packed = () => `data:image/png;base64,${byId(`picture-${turn.screenshot}`).textContent}`;
  const source = typeof turn.screenshot === "string" ? turn.screenshot : packed();
  return make("img", { src: source, alt: `screenshot before turn ${number}` });
}

/* What was said before the action: the thought, where it is told apart; else the whole answer. */
function said(turn) {
  if (turn.thought) return block("thought", "thought", turn.thought);
  return turn.thought === undefined && turn.response !== turn.action ? block("response", "answer", turn.response) : null;
}

function answer(turn) {
  if (!turn.response || turn.response === turn.action || turn.thought === undefined) return null;
  const made = make("details", {}, make("summary", { class: "quiet" }, "whole answer"));
  made.addEventListener("toggle", () => made.children.length > 1 || made.append(block("response", "answer", turn.response)));
  return made;
}

const signed = (reward) => (reward ?? 0).toLocaleString("en", { maximumFractionDigits: 3, signDisplay: "exceptZero" });

/* The seats of an episode with several agents; each has a colour. */
const byNumber = new Intl.Collator("en", { numeric: true });
const seatsOf = (turns) => unique(turns.flatMap((turn) => turn.seat ?? [])).sort(byNumber.compare);

function turnCard(turn, number, seats) {
  const seat = seats.indexOf(turn.seat);
  const colour = `run-${seat % 6}`;
  const agent = seat < 0 ? null : make("span", { class: `dot ${colour}` }, [turn.seat, turn.player].filter(Boolean).join(": "));
  const told = turn.reward !== undefined;
  const reward = told ? make("span", { class: turn.reward > 0 ? "solved" : "quiet" }, `reward ${signed(turn.reward)}`) : null;
  const invalid = turn.invalid ? make("span", { class: "invalid" }, "⚠ invalid action") : null;
  const cut = turn.cut ? make("span", { class: "invalid" }, "⚠ cut at --max-tokens") : null;
  return make(
    "article",
    { class: seat < 0 ? "turn" : `turn seat ${colour}` },
    make("header", {}, make("h4", {}, `Turn ${number}`), agent, reward, invalid, cut),
    block("observation", "observation", turn.observation),
    picture(turn, number),
    said(turn),
    block("action", "action", turn.action),
    answer(turn),
  );
}

function turnCards(turns) {
  const seats = seatsOf(turns);
  return turns.map((turn, i) => turnCard(turn, i + 1, seats));
}

/* Episodes beside each other, row by row. A column has the turns and their cards. */
function inRows(columns) {
  const longest = Math.max(...columns.map(({ cards }) => cards.length));
  const over = () => make("div", { class: "turn absent" }, "over");
  const rows = Array.from({ length: longest }, (_, i) => columns.map(({ cards }) => cards[i] ?? over()));
  const apart = rows.findIndex((_, i) => unique(columns.map(({ turns }) => turns[i]?.action)).length > 1);
  const line = make("div", { class: "apart" }, "the first different action");
  return rows.flatMap((row, i) => (i === apart ? [line, ...row] : row));
}
