// Menus: a button with aria-controls opens what it names, and closes the other menus.
function menu(button, open) {
  button.setAttribute("aria-expanded", open);
  document.getElementById(button.getAttribute("aria-controls")).hidden = !open;
}
const buttons = [...document.querySelectorAll("button[aria-controls]")];
const closeMenus = (except) => buttons.filter((b) => b !== except).forEach((b) => menu(b, false));
buttons.forEach((b) => b.addEventListener("click", () => {
  closeMenus(b);
  menu(b, b.getAttribute("aria-expanded") !== "true");
}));
document.addEventListener("keydown", (e) => e.key === "Escape" && closeMenus());
document.addEventListener("click", (e) => e.target.closest("button[aria-controls], .panel") || closeMenus());
