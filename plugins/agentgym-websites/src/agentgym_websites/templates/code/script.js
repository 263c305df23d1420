// Menus and sections of the sidebar: everything is shown without a script.
const folds = [...document.querySelectorAll(".fold")];
function fold(button, open) {
  button.setAttribute("aria-expanded", String(open));
  document.getElementById(button.getAttribute("aria-controls")).hidden = !open;
}
const closeMenus = (but) => folds.filter((b) => b !== but && "menu" in b.dataset).forEach((b) => fold(b, false));
for (const button of folds) {
  fold(button, "open" in button.dataset);
  button.addEventListener("click", () => {
    closeMenus(button);
    fold(button, button.getAttribute("aria-expanded") === "false");
  });
}
document.addEventListener("keydown", (event) => event.key === "Escape" && closeMenus());
document.addEventListener("click", (event) => event.target.closest(".menu") || closeMenus());

// Fields that filter a list while one types.
for (const field of document.querySelectorAll("[data-filter]")) {
  field.addEventListener("input", () => {
    const words = field.value.trim().toLowerCase();
    for (const item of document.getElementById(field.dataset.filter).querySelectorAll("li")) {
      item.hidden = !item.querySelector("a").textContent.toLowerCase().includes(words);
    }
  });
}

// Forms say what is missing before they are sent.
function complaint(input) {
  const text = input.value.trim();
  if (!text) return input.dataset.need;
  const shape = input.dataset.shape;
  return shape && !new RegExp(`^(?:${shape})$`).test(text) ? "Only letters, digits, dots, dashes and slashes." : "";
}
for (const input of document.querySelectorAll("[data-need]")) {
  const told = document.createElement("p");
  told.className = "wrong";
  told.setAttribute("role", "alert");
  input.addEventListener("input", () => told.remove());
  input.form.addEventListener("submit", (event) => {
    told.textContent = complaint(input);
    input.setAttribute("aria-invalid", String(Boolean(told.textContent)));
    if (!told.textContent) return told.remove();
    input.after(told);
    event.preventDefault();
  });
}
