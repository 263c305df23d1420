// Grids: one box selects all rows of the page; deleting many rows is confirmed.
const all = document.getElementById("select-all");
const boxes = [...document.querySelectorAll("input[name=row]")];
if (all) {
  all.parentElement.hidden = all.hidden = false;
  all.addEventListener("change", () => boxes.forEach((box) => { box.checked = all.checked; }));
}
document.getElementById("mass")?.addEventListener("submit", (e) => {
  const count = boxes.filter((box) => box.checked).length;
  const how = e.target.elements.how;
  if (how.value === "delete" && !confirm(`Delete ${count} selected?`)) e.preventDefault();
});
