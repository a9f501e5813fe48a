// The schedule of a run: kernels of its GPUs or its pipeline's stages, or the WGs of one GPU.
import { make } from "/serve_knobs.js";
import { readTimeline, timeText, count } from "/serve_data.js";
import { Lanes, inkOf } from "/serve_lanes.js";

const MOST_LANES = 120;
const MOST_NAMES = 10;
const MOST_ROWS = 200;

const withoutTimeline = (panel, result, runWith) => {
  const parts = [make("p", {}, "This result has no timeline. ",
    "weft run writes one into the folder of its results with ",
    make("code", {}, `-o DIR --trace DIR/timeline.json.gz`),
    "; --trace-detail waves adds the WGs of some CUs.")];
  if (result.again) {
    const again = (timeline, text) =>
      make("button", { type: "button", onclick: () => runWith(result, timeline) }, text);
    parts.push(make("p", { class: "buttons" }, again("kernels", "Run again, with kernels"),
      again("waves", "Run again, with kernels and WGs")));
  }
  panel.replaceChildren(...parts);
};

// A GPU of each stage: stages are equal parts of the GPUs, in their order.
const stagesOf = async ({ result, askJson }) => {
  if (!result.again) return [];
  const scenario = await askJson(`/api/scenario?from=result&of=${encodeURIComponent(result.name)}`);
  const value = (path) => Number(scenario.values?.[path] ?? 1);
  const stages = value("workload.parallel.pipeline");
  const gpus = value("cluster.nodes") * value("cluster.gpus_per_node");
  if (stages < 2 || gpus % stages !== 0) return [];
  return Array.from({ length: stages }, (_, stage) => stage * (gpus / stages));
};

class ScheduleView {
  constructor(panel, timeline, stages) {
    this.timeline = timeline;
    this.stages = stages;
    this.build(panel);
    this.setMode([...timeline.modes.keys()][0]);
  }

  build(panel) {
    this.mode = make("select", { onchange: () => this.setMode(this.mode.value) },
      ...[...this.timeline.modes.keys()].map((mode) => make("option", { value: mode }, mode)));
    this.what = make("select", { onchange: () => this.choose() });
    this.part = make("select", { onchange: () => this.showPart() });
    this.partLabel = make("label", {}, "Lanes ", this.part);
    this.canvas = make("canvas", { tabindex: 0, role: "img",
      "aria-describedby": "lanes-keys lanes-said" });
    this.said = make("p", { class: "hint", id: "lanes-said", role: "status" });
    this.pointed = make("p", { class: "hint" });
    this.legend = make("div", { class: "legend" });
    this.leftOut = make("p", { class: "hint" });
    this.table = make("div", { class: "scroll", tabindex: 0, role: "region",
      "aria-label": "Slices in view: table" });
    const button = (text, label, does) =>
      make("button", { type: "button", "aria-label": label, onclick: does }, text);
    panel.replaceChildren(
      make("div", { class: "controls" }, make("label", {}, "Mode ", this.mode),
        make("label", {}, "Show ", this.what), this.partLabel),
      make("div", { class: "controls" },
        button("+", "Zoom in", () => this.lanes.zoom(0.5)),
        button("−", "Zoom out", () => this.lanes.zoom(2)),
        button("◀", "Earlier", () => this.lanes.move(-0.25)),
        button("▶", "Later", () => this.lanes.move(0.25)),
        button("All", "The whole run", () => this.lanes.look(0, this.lanes.end))),
      make("p", { class: "hint", id: "lanes-keys" },
        "Keys on the picture: + and − zoom, arrows move, Home shows all."),
      this.said, this.legend, make("div", { class: "lanes" }, this.canvas), this.pointed,
      this.leftOut, make("details", {}, make("summary", {}, "What is in view as a table"),
        this.table));
    this.lanes = new Lanes(this.canvas, () => this.viewed());
    this.canvas.addEventListener("mousemove", (event) =>
      this.point(this.lanes.at(event.offsetX, event.offsetY)));
  }

  setMode(name) {
    this.one = this.timeline.modes.get(name);
    const gpus = [...this.one.gpus.values()];
    const before = this.what.value;
    const withWgs = gpus.filter((gpu) => [...gpu.lanes.values()].some((lane) => lane.wg));
    const choices = [["gpus", "kernels of all GPUs"]];
    if (this.stages.length > 0) {
      choices.unshift(["stages", `the pipeline: a GPU of each of ${this.stages.length} stages`]);
    }
    choices.push(...withWgs.map((gpu) => [`wgs ${gpu.gpu}`, `WGs of GPU ${gpu.gpu}`]));
    this.what.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    if (choices.some(([value]) => value === before)) this.what.value = before;
    this.choose();
  }

  chosenLanes() {
    const own = (gpu, wg) => [...gpu.lanes.values()].filter((lane) => lane.wg === wg)
      .sort((a, b) => a.tid - b.tid);
    if (this.what.value.startsWith("wgs ")) {
      const gpu = this.one.gpus.get(Number(this.what.value.slice(4)));
      return [...own(gpu, false), ...own(gpu, true)].map((lane) => ({ ...lane, label: lane.name }));
    }
    const stage = (gpu) => this.stages.indexOf(gpu.gpu);
    const staged = this.what.value === "stages";
    return [...this.one.gpus.values()].filter((gpu) => !staged || stage(gpu) >= 0)
      .sort((a, b) => a.gpu - b.gpu)
      .flatMap((gpu) => own(gpu, false).map((lane) => ({ ...lane,
        label: `${staged ? `stage ${stage(gpu)}` : `GPU ${gpu.gpu}`} ${lane.name}` })));
  }

  missingStages() {
    const drawn = (gpu) => (this.one.gpus.get(gpu)?.lanes.size ?? 0) > 0;
    return this.stages.flatMap((gpu, stage) => (drawn(gpu) ? [] : [stage]));
  }

  choose() {
    this.all = this.chosenLanes();
    const parts = Math.ceil(this.all.length / MOST_LANES);
    this.partLabel.hidden = parts < 2;
    const words = (i) =>
      `${i * MOST_LANES + 1} to ${Math.min((i + 1) * MOST_LANES, this.all.length)}`;
    this.part.replaceChildren(...Array.from({ length: parts },
      (_, i) => make("option", { value: i }, words(i))));
    this.showPart();
  }

  showPart() {
    const first = Number(this.part.value) * MOST_LANES;
    const { all } = this;
    const lanes = all.slice(first, first + MOST_LANES);
    const times = new Map();
    for (const lane of lanes) {
      for (const slice of lane.slices) {
        if (slice.kind === "wait") continue;
        times.set(slice.name, (times.get(slice.name) ?? 0) + slice.until - slice.from);
      }
    }
    const names = [...times.keys()].sort((a, b) => times.get(b) - times.get(a));
    this.showLegend(lanes, names);
    const parts = all.length > lanes.length
      ? [`${count(all.length - lanes.length)} of ${count(all.length)} lanes are not drawn: ` +
        "choose others above."] : [];
    const missing = this.what.value === "stages" ? this.missingStages() : [];
    if (missing.length > 0) {
      parts.push(`No GPU of these stages is in the timeline: ${missing.join(", ")}.`);
    }
    const { leftOut } = this.timeline;
    if (leftOut.length > 0) parts.push(`Not in the timeline: ${leftOut.join("; ")}.`);
    this.leftOut.textContent = parts.join(" ");
    this.lanes.show(lanes, names, this.one.end || 1);
  }

  showLegend(lanes, names) {
    const item = (slice, text) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = inkOf(slice, names);
      return make("span", {}, swatch, text);
    };
    const shown = names.slice(0, MOST_NAMES).map((name) => item({ name }, name));
    if (lanes.some((lane) => lane.slices.some((slice) => slice.kind === "wait"))) {
      shown.push(item({ kind: "wait" }, "a wait"));
    }
    const more = names.length - MOST_NAMES;
    if (more > 0) shown.push(make("span", {}, `and ${more} more, in the same colours again`));
    this.legend.replaceChildren(...shown);
  }

  viewed() {
    if (!this.lanes) return; // not yet
    const { from, until, lanes } = this.lanes;
    this.said.textContent = `${timeText(from)} to ${timeText(until)} ` +
      `of ${timeText(this.lanes.end)}, ${lanes.length} ${lanes.length === 1 ? "lane" : "lanes"}.`;
    this.canvas.setAttribute("aria-label", `Lanes of time: ${this.what.selectedOptions[0]?.text}`);
    this.showTable(from, until, lanes);
  }

  showTable(from, until, lanes) {
    const all = lanes.flatMap((lane) => lane.slices
      .filter((slice) => slice.until >= from && slice.from <= until)
      .slice(0, MOST_ROWS + 1).map((slice) => ({ lane, slice })));
    const cell = (text, number) => make("td", number ? { class: "number" } : {}, text);
    const rows = all.slice(0, MOST_ROWS).map(({ lane, slice }) => make("tr", {},
      cell(lane.label), cell(slice.name), cell(timeText(slice.from), true),
      cell(timeText(slice.until - slice.from), true)));
    this.table.replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, ...["lane", "what", "starts", "takes"].map((name) =>
        make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)),
      all.length > MOST_ROWS
        ? make("p", { class: "hint" }, `Only the first ${MOST_ROWS}: zoom in for others.`) : "");
  }

  point(found) {
    this.pointed.textContent = found ? `${found.lane.label}: ${found.slice.name}, ` +
      `${timeText(found.slice.from)}, takes ${timeText(found.slice.until - found.slice.from)}` : "";
  }
}

export const showSchedule = async (panel, { result, fileOf, askJson, runWith }) => {
  if (result.timelines.length === 0) {
    withoutTimeline(panel, result, runWith);
    return;
  }
  const [timeline, stages] = await Promise.all([
    readTimeline(fileOf(result.name, result.timelines[0])), stagesOf({ result, askJson })]);
  if (timeline.modes.size === 0) throw new Error(`${result.timelines[0]}: not weft's timeline`);
  new ScheduleView(panel, timeline, stages);
};
