// A form with data-check is not sent before all its fields with data-needed are filled in.
function complain(field, message) {
  const place = field.closest("[data-field]") || field.parentElement;
  place.querySelector(".wrong")?.remove();
  field.toggleAttribute("aria-invalid", Boolean(message));
  if (!message) return;
  const note = document.createElement("p");
  note.className = "wrong";
  note.setAttribute("role", "alert");
  note.textContent = message;
  place.append(note);
}
document.querySelectorAll("form[data-check]").forEach((form) => form.addEventListener("submit", (e) => {
  const empty = [...form.querySelectorAll("[data-needed]")].filter((field) => {
    const missing = field.type === "radio" ? !form.querySelector(`[name="${field.name}"]:checked`) : !field.value.trim();
    complain(field, missing ? "This is a required field." : "");
    return missing;
  });
  if (empty.length) {
    e.preventDefault();
    empty[0].focus();
  }
}));

// The price of a product with the options that are chosen.
const price = document.querySelector("[data-price]");
if (price) {
  const fields = document.querySelectorAll("[data-option]");
  const show = () => {
    const chosen = [...fields].flatMap((f) => (f.tagName === "SELECT" ? [...f.selectedOptions] : f.checked ? [f] : []));
    const cents = chosen.reduce((sum, c) => sum + Number(c.dataset.extra || 0), Number(price.dataset.price));
    price.textContent = (cents / 100).toLocaleString("en-US", { style: "currency", currency: "USD" });
  };
  fields.forEach((f) => f.addEventListener("change", show));
  show();
}
