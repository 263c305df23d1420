// A calendar beside each field for a date: days are buttons; without a script the field takes YYYY-MM-DD.
for (const field of document.querySelectorAll("[data-calendar]")) {
  const label = document.querySelector(`label[for="${field.id}"]`).textContent.replace(/ \(.*/, "");
  const open = document.createElement("button"), panel = document.createElement("div");
  Object.assign(open, { type: "button", className: "plain", textContent: "▦" });
  Object.assign(panel, { className: "calendar card", hidden: true });
  open.setAttribute("aria-label", `Calendar for ${label}`);
  open.setAttribute("aria-expanded", "false");
  panel.setAttribute("role", "dialog");
  panel.setAttribute("aria-label", `Choose ${label}`);
  field.after(open, panel);
  let month = /^\d{4}-\d\d/.test(field.value) ? field.value.slice(0, 7) : field.dataset.calendar.slice(0, 7);
  const button = (text, name, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: text });
    made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  };
  const close = () => { panel.hidden = true; open.setAttribute("aria-expanded", "false"); open.focus(); };
  const show = () => {
    const [year, number] = month.split("-").map(Number), first = new Date(Date.UTC(year, number - 1, 1));
    const title = first.toLocaleString("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
    const move = (by) => { month = new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7); show(); };
    const days = document.createElement("div");
    days.className = "days";
    for (let day = 1; day <= new Date(Date.UTC(year, number, 0)).getUTCDate(); day++) {
      const text = `${month}-${String(day).padStart(2, "0")}`, name = title.replace(" ", ` ${day}, `);
      const made = button(day, name, () => { field.value = text; close(); });
      if (field.value === text) made.setAttribute("aria-pressed", "true");
      if (day === 1) made.style.gridColumnStart = 1 + first.getUTCDay();
      days.append(made);
    }
    const heading = Object.assign(document.createElement("strong"), { textContent: title });
    panel.replaceChildren(button("‹", "Previous month", () => move(-1)), heading, button("›", "Next month", () => move(1)), days);
  };
  open.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    open.setAttribute("aria-expanded", String(!panel.hidden));
    show();
  });
  for (const part of [open, panel]) part.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
}
