// The knobs: finding keys, and the list of those that are changed.

export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};

const MOST_FOUND = 25;
const found = document.getElementById("found");
const search = document.getElementById("search");
const foundCount = document.getElementById("found-count");
const changedList = document.getElementById("changed");
const changedNone = document.getElementById("changed-none");

let keys = []; // one for each path
let values = {}; // of the scenario that is started from
const changed = new Map(); // by path: the row of a changed knob

const range = (key) => {
  const parts = [];
  if (key.low && key.high) parts.push(`${key.low} to ${key.high}`);
  else if (key.low) parts.push(`at least ${key.low}`);
  else if (key.high) parts.push(`at most ${key.high}`);
  if (key.units) parts.push(`units: ${key.units}`);
  return parts.join("; ");
};

// A key that several kinds of scenarios have, each with a help of its own, is there once.
export const setKeys = (all) => {
  const byPath = new Map();
  for (const key of all) {
    const known = byPath.get(key.path);
    if (!known) byPath.set(key.path, { ...key });
    else if (!known.help.includes(key.help)) known.help += ` / ${key.help}`;
  }
  keys = [...byPath.values()];
};

const words = (key) => [key.path, key.units, key.help].join(" ").toLowerCase();

const matches = (asked) => {
  const parts = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return [];
  const all = keys.filter((key) => parts.every((part) => words(key).includes(part)));
  const rank = (key) => (key.path in values ? 0 : 2) +
    (parts.every((part) => key.path.toLowerCase().includes(part)) ? 0 : 1);
  return all.map((key, place) => ({ key, place }))
    .sort((a, b) => rank(a.key) - rank(b.key) || a.place - b.place).map((one) => one.key);
};

const valueText = (path) => (path in values ? values[path] : "not set");

const showFound = () => {
  const all = matches(search.value);
  found.replaceChildren(...all.slice(0, MOST_FOUND).map((key) => make("li", {},
    make("button", { type: "button", onclick: () => {
      const input = change(key);
      input.focus();
      input.select?.(); // what is typed takes the place of the value
    } },
      `${key.path}: ${valueText(key.path)}`, make("span", { class: "detail" }, key.help)))));
  const more = all.length - MOST_FOUND;
  foundCount.textContent = search.value.trim() === "" ? ""
    : all.length === 0 ? "No key has these words."
    : `${all.length} ${all.length === 1 ? "key" : "keys"}` +
      (more > 0 ? `; the first ${MOST_FOUND} are shown, more words find fewer.` : "");
};
search.addEventListener("input", showFound);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // it would run
});

const showNone = () => { changedNone.hidden = changed.size > 0; };

const control = (key, id) => {
  const now = values[key.path] ?? "";
  if (key.words.length === 0 || key.type.startsWith("list")) {
    return make("input", { id, value: now, autocomplete: "off", spellcheck: "false",
      "aria-describedby": `${id}-help ${id}-wrong` });
  }
  const select = make("select", { id, "aria-describedby": `${id}-help ${id}-wrong` });
  const all = key.words.map((one) => one.word);
  if (!all.includes(now)) select.append(make("option", { value: now }, now || "choose"));
  for (const { word } of key.words) {
    select.append(make("option", { value: word, selected: word === now }, word));
  }
  return select;
};

// Its control, which is made where there is none.
const change = (key) => {
  const known = changed.get(key.path);
  if (known) return known.control;
  const id = `knob-${key.path.replace(/[^\w]/g, "-")}`;
  const input = control(key, id);
  const wrong = make("p", { id: `${id}-wrong`, class: "wrong" });
  const item = make("li", {},
    make("label", { for: id }, key.path),
    make("div", { class: "row" }, input, make("button", {
      type: "button", "aria-label": `Reset ${key.path}`,
      onclick: () => { reset(key.path); search.focus(); },
    }, "Reset")),
    make("p", { id: `${id}-help`, class: "hint" },
      [`Was ${valueText(key.path)}`, key.help, range(key)].filter(Boolean).join(" · ")),
    wrong);
  changed.set(key.path, { control: input, item, wrong });
  changedList.append(item);
  showNone();
  return input;
};

const reset = (path) => {
  changed.get(path)?.item.remove();
  changed.delete(path);
  showNone();
};

// Changed knobs stay: they are laid over whatever the run starts from.
export const setValues = (all) => {
  values = all;
  showFound();
};

export const resetAll = () => { for (const path of [...changed.keys()]) reset(path); };

export const sets = () => [...changed].map(([path, row]) => `${path}=${row.control.value.trim()}`);

export const hasEmpty = () => {
  for (const row of changed.values()) {
    if (row.control.value.trim() === "") {
      row.wrong.textContent = "Empty; give a value or reset it.";
      row.control.setAttribute("aria-invalid", "true");
      row.control.focus();
      return true;
    }
  }
  return false;
};

// Each beside its knob; those without one are returned.
export const showProblems = (problems) => {
  for (const row of changed.values()) {
    row.wrong.textContent = "";
    row.control.removeAttribute("aria-invalid");
  }
  let first = null;
  const others = [];
  for (const problem of problems) {
    const row = changed.get(problem.path);
    if (!row) { others.push(problem); continue; }
    row.wrong.textContent += `${problem.text.trimEnd()}\n`;
    if (problem.severity !== "error") continue;
    row.control.setAttribute("aria-invalid", "true");
    first ??= row.control;
  }
  first?.focus();
  return others;
};
