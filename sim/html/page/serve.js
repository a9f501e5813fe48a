// The page of `weft serve`: what is chosen, what is run, and which view shows it.
import { make, setKeys, setValues, resetAll, sets, hasEmpty, showProblems } from "/serve_knobs.js";
import { timeText } from "/serve_data.js";
import { showCluster } from "/serve_cluster.js";
import { showSchedule } from "/serve_timeline.js";

const at = (id) => document.getElementById(id);
const tabs = ["report", "cluster", "schedule"];
let list = { results: [], scenarios: [], shipped: [], left_out: 0, folder: "" };
let chosen = []; // names of results, in the order of choosing
let tab = "report";
let followed = null; // the number of the run whose end is waited for
let watched = null; // the same of a run that goes on, whoever began it
let alone = false; // that run is looked at by itself

const ask = async (path, options) => {
  const response = await fetch(path, options);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
};
const askJson = async (path) => (await ask(path)).json();
const query = (names) => names.map((name) => `of=${encodeURIComponent(name)}`).join("&");
const fileOf = (name, file) =>
  `/file?of=${encodeURIComponent(name)}&name=${encodeURIComponent(file)}`;

const tell = (text) => { at("status").textContent = text; };

// --- what is in the folder ---

const timesText = (times) => Object.entries(times ?? {})
  .map(([mode, us]) => `${mode} ${timeText(us)}`).join(", ");

const showResults = () => {
  at("results").replaceChildren(...list.results.map((result, place) => {
    const id = `result-${place}`;
    const box = make("input", { type: "checkbox", id, checked: chosen.includes(result.name) });
    box.addEventListener("change", () => choose(result.name, box.checked));
    return make("li", {}, make("label", { for: id }, box, make("span", {}, result.name,
      make("span", { class: "detail" }, result.kind === "sweep" ? "a sweep"
        : [result.title, timesText(result.times_us)].filter(Boolean).join(": ")))));
  }));
  if (list.results.length === 0) {
    at("results").append(make("li", { class: "none" }, "None yet."));
  }
  at("results-left-out").textContent = list.left_out === 0 ? ""
    : `${list.left_out} more results and scenarios of the folder are left out.`;
};

const options = (from, all) => all.map((one) =>
  make("option", { value: JSON.stringify([from, one.name]) },
    one.title ? `${one.name}: ${one.title}` : one.name));
const group = (label, items) => items.length === 0 ? []
  : [make("optgroup", { label }, ...items)];

const showSources = () => {
  const before = at("source").value;
  at("source").replaceChildren(
    ...group("Results", options("result", list.results.filter((one) => one.again))),
    ...group("Scenarios of the folder", options("file", list.scenarios.map((name) => ({ name })))),
    ...group("Scenarios that come with weft", options("shipped", list.shipped)));
  if ([...at("source").options].some((one) => one.value === before)) at("source").value = before;
};

const refresh = async () => {
  list = await askJson("/api/list");
  at("folder").textContent = list.folder;
  chosen = chosen.filter((name) => list.results.some((one) => one.name === name));
  showResults();
  showSources();
};

const source = () => JSON.parse(at("source").value);

let asked = 0;
const sourceChanged = async () => {
  if (at("source").value === "") return;
  const mine = ++asked;
  const [from, of] = source();
  const scenario = await askJson(`/api/scenario?from=${from}&of=${encodeURIComponent(of)}`);
  if (mine !== asked) return; // another one was chosen meanwhile
  setValues(scenario.values ?? {});
  at("source-problems").replaceChildren(...scenario.problems.map(problemItem));
};

const startFrom = async (name) => {
  const value = JSON.stringify(["result", name]);
  if (![...at("source").options].some((one) => one.value === value)) return;
  if (at("source").value === value) return;
  at("source").value = value;
  await sourceChanged();
};

// --- what is chosen, and its views ---

const choose = async (name, yes) => {
  chosen = yes ? [...chosen, name] : chosen.filter((one) => one !== name);
  if (chosen.length === 1) await startFrom(chosen[0]);
  show();
};

const report = async (panel) => {
  const path = `/report?${query(chosen)}`;
  const title = chosen.length > 1 ? "Runs side by side" : `Report of ${chosen[0]}`;
  const response = await fetch(path);
  if (!response.ok) {
    panel.replaceChildren(make("p", { class: "wrong" }, await response.text()));
    return;
  }
  panel.replaceChildren(
    make("p", { class: "hint" },
      make("a", { href: path, target: "_blank" }, "Open the report in a tab of its own")),
    make("iframe", { src: path, title, sandbox: "allow-scripts allow-downloads" }));
};

const views = {
  report,
  cluster: (panel, result) => showCluster(panel, { result, fileOf, askJson, ask, runWith }),
  schedule: (panel, result) => showSchedule(panel, { result, fileOf, askJson, runWith }),
};

let shown = 0; // how often something was chosen: a late answer must not take another's place
const show = () => {
  const mine = ++shown;
  const results = chosen.map((name) => list.results.find((one) => one.name === name));
  const isRun = results.length === 1 && results[0].kind === "run";
  at("view-hint").hidden = results.length > 0;
  at("view-title").textContent = results.length === 0 ? "Nothing is chosen"
    : results.length === 1 ? chosen[0] : `Side by side: ${chosen.join(", ")}`;
  at("tabs").hidden = !isRun;
  const visible = isRun ? tab : "report";
  for (const name of tabs) {
    const panel = at(`panel-${name}`);
    const selected = name === visible;
    at(`tab-${name}`).setAttribute("aria-selected", selected);
    at(`tab-${name}`).tabIndex = selected ? 0 : -1;
    panel.hidden = !selected || results.length === 0;
    panel.replaceChildren();
    if (panel.hidden) continue;
    const view = make("div", {}, make("p", { class: "hint" }, "Reading the result …"));
    panel.append(view); // taken away with the next choice, and what comes late with it
    views[name](view, results[0]).catch((error) => {
      if (mine === shown) view.replaceChildren(make("p", { class: "wrong" }, error.message));
    });
  }
};

for (const [place, name] of tabs.entries()) {
  at(`tab-${name}`).addEventListener("click", () => { tab = name; show(); });
  at(`tab-${name}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    tab = tabs[(place + step + tabs.length) % tabs.length];
    show();
    at(`tab-${tab}`).focus();
  });
}

// --- running ---

const problemItem = (problem) =>
  make("li", { class: problem.severity }, problem.text.trimEnd());

const progressText = (status) => {
  const done = status.wgs > 0 ? Math.floor(100 * status.wgs_done / status.wgs) : null;
  return done === null ? `Running ${status.mode}: being set up …`.replace("  ", " ")
    : `Running ${status.mode}: ${done} % of WGs, ${timeText(status.simulated_us)} simulated`;
};

let startedFrom = null; // what this page's run is of
const ended = async (status) => {
  at("problems").replaceChildren(...showProblems(status.problems).map(problemItem));
  if (status.state === "failed") {
    if (document.activeElement === document.body) at("run").focus(); // it was disabled
    tell(status.why === "stopped" ? "Stopped; there are no results."
      : status.why || "Not run: see the problems.");
    return;
  }
  const base = startedFrom;
  await refresh();
  chosen = base[0] === "result" && !alone ? [base[1], status.result] : [status.result];
  showResults();
  show();
  const cut = status.left_out.map((what) => ` Left out of the timeline: ${what}.`).join("");
  tell(`Done: ${status.result}${chosen.length > 1 ? `, compared with ${base[1]}` : ""}.${cut}`);
  at("view").focus();
};

const running = (yes) => {
  at("run").disabled = yes;
  at("stop").hidden = !yes;
};

const follow = async () => {
  try {
    const status = await askJson("/api/status");
    if (status.state === "running") {
      running(true);
      watched = status.number;
      tell(progressText(status));
      setTimeout(follow, 300);
      return;
    }
    running(false);
    if (followed === status.number) {
      await ended(status);
    } else if (watched === status.number) { // another page's, or from before this one was loaded
      await refresh();
      tell(status.result ? `Done: ${status.result}.` : "The run ended without results.");
    }
    followed = watched = null;
  } catch (error) {
    running(false);
    tell(`weft serve does not answer: ${error.message}`);
  }
};

const run = async (from, of, overrides, timeline, name) => {
  at("problems").replaceChildren();
  showProblems([]);
  running(true);
  tell("Running …");
  try {
    const response = await ask("/api/run", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ from, of, set: overrides, timeline, name }),
    });
    followed = (await response.json()).number;
    startedFrom = [from, of];
    await follow();
  } catch (error) {
    running(false);
    tell(error.message);
  }
};

// The same run once more with a timeline, for a view that needs one.
const runWith = (result, timeline) => {
  resetAll();
  at("timeline").value = timeline;
  alone = true;
  return startFrom(result.name).then(() => run("result", result.name, [], timeline, ""));
};

at("run-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (at("source").value === "" || at("run").disabled || hasEmpty()) return;
  alone = false;
  run(...source(), sets(), at("timeline").value, at("name").value.trim());
});
at("stop").addEventListener("click", () => {
  tell("Stopping …");
  ask("/api/stop", { method: "POST" }).catch((error) => tell(error.message));
});
at("source").addEventListener("change", sourceChanged);

const begin = async () => {
  const [keys] = await Promise.all([askJson("/api/keys"), refresh()]);
  setKeys(keys);
  await sourceChanged();
  await follow();
};
begin().catch((error) => tell(error.message));
