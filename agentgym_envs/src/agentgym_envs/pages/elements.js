"use strict";

/* Elements, and texts in them: text nodes only, so that no text of an episode is ever read as HTML. */

const byId = (id) => document.getElementById(id);
const unique = (values) => [...new Set(values)];
const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/* A name that may go on in the next line after a slash. */
const breakable = (name) => name.split("/").flatMap((part, i) => (i ? ["/", make("wbr"), part] : [part]));

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const button = (label, act) => {
  const made = make("button", { type: "button", class: "plain" }, ...[label].flat());
  made.addEventListener("click", act);
  return made;
};
