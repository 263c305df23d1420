/* The data of a report is in the page: an index, and parts with the texts of the episodes. */

const SORT = ""; // the order of the list at first: that of the files
const KEPT = 6; // parts that stay unpacked
const parts = new Map();

async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function texts(entry) {
  const kept = parts.get(entry.part) ?? unpack(`part-${entry.part}`);
  parts.delete(entry.part);
  parts.set(entry.part, kept);
  if (parts.size > KEPT) parts.delete(parts.keys().next().value);
  return (await kept)[entry.at];
}

const load = () => unpack("index");

/* The numbers of the episodes from `start` on whose texts contain this one. */
async function search(text, start) {
  const wanted = text.toLowerCase();
  const numbers = [];
  for (const part of unique(data.entries.slice(start).map((entry) => entry.part))) {
    const contents = await unpack(`part-${part}`);
    const here = data.entries.filter((entry) => entry.part === part && entry.number >= start);
    const fitting = (entry) => searched(contents[entry.at]).some((each) => each.toLowerCase().includes(wanted));
    numbers.push(...here.filter(fitting).map((entry) => entry.number));
  }
  return numbers;
}

function searched(contents) {
  const keys = ["goal", "last", "error", "observation", "response", "action"];
  return [contents, ...(contents.turns ?? [])].flatMap((part) => keys.map((key) => part[key])).filter((text) => typeof text === "string");
}

start().catch(fail);
