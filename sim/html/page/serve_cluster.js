// A run's cluster, drawn with its links as busy as they were over the run or at a moment.
import { make } from "/serve_knobs.js";
import { readCsv, readTimeline, groupBy, valueAt, timeText, percent, count } from "/serve_data.js";
import { SIZE, layOut } from "/serve_layout.js";

const MANY = 64; // GPUs and NICs, beyond which only the busiest links are drawn
const MOST_LINKS = 400;
const MOST_ROWS = 50;
const NAMESPACE = "http://www.w3.org/2000/svg";

const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

// Idle to always in use. Widths say the same.
const RAMP = [[139, 148, 158], [56, 139, 253], [130, 80, 223], [191, 57, 137], [207, 34, 46]];
const colour = (share) => {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  const mix = RAMP[i].map((low, c) => Math.round(low + (at - i) * (RAMP[i + 1][c] - low)));
  return `rgb(${mix.join(",")})`;
};

// Both directions of a cable beside each other.
const curve = ([a, b]) => {
  const x = (a.x + b.x) / 2 - (b.y - a.y) * 0.08;
  const y = (a.y + b.y) / 2 + (b.x - a.x) * 0.08;
  const f = (number) => number.toFixed(1);
  return `M${f(a.x)} ${f(a.y)}Q${f(x)} ${f(y)} ${f(b.x)} ${f(b.y)}`;
};

// Outwards, away from the links.
const label = (one) => {
  const away = Math.hypot(one.x - SIZE / 2, one.y - SIZE / 2) || 1;
  const [x, y] = [(one.x - SIZE / 2) / away, (one.y - SIZE / 2) / away];
  const anchor = Math.abs(x) < 0.4 ? "middle" : x < 0 ? "end" : "start";
  return svg("text", { x: one.x + x * (one.r + 5), y: one.y + y * (one.r + 9) + 5,
    "text-anchor": anchor }, one.name.replace("GPU ", ""));
};

const shapeOf = async ({ result, askJson }) => {
  const scenario = await askJson(`/api/scenario?from=result&of=${encodeURIComponent(result.name)}`);
  const value = (path) => scenario.values?.[path];
  const dims = (value("cluster.scale_out.dims") ?? "").match(/\d+/g)?.map(Number) ?? null;
  return {
    nodes: Number(value("cluster.nodes") ?? 1),
    gpusPerNode: Number(value("cluster.gpus_per_node") ?? 1),
    dims: dims && dims.length > 0 ? dims : null,
  };
};

class ClusterView {
  constructor(panel, links, overTime, shape, timeline, again) {
    this.links = groupBy(links, "mode");
    this.overTime = groupBy(overTime, "mode");
    this.columns = sharesOf(overTime);
    this.shape = shape;
    this.timeline = timeline;
    this.moment = null; // the place of an interval; null: the whole run
    this.build(panel, again);
    this.setMode([...this.links.keys()][0]);
  }

  build(panel, again) {
    this.mode = make("select", { id: "cluster-mode",
      onchange: () => this.setMode(this.mode.value) },
      ...[...this.links.keys()].map((mode) => make("option", { value: mode }, mode)));
    this.slider = make("input", { type: "range", id: "moment", min: 0, value: 0,
      oninput: () => this.setMoment(Number(this.slider.value)) });
    this.whole = make("button", { type: "button", onclick: () => this.setMoment(null) },
      "Whole run");
    this.said = make("p", { class: "hint", id: "moment-said", role: "status" });
    this.picture = svg("svg", { class: "cluster", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
      "aria-labelledby": "cluster-said" });
    this.description = make("p", { class: "hint", id: "cluster-said" });
    this.shares = svg("svg", { class: "shares", viewBox: "0 0 720 90", "aria-hidden": "true",
      preserveAspectRatio: "none" });
    this.table = make("div", { class: "scroll", tabindex: 0, role: "region",
      "aria-label": "Busiest links: table" });
    panel.replaceChildren(
      make("div", { class: "controls" }, make("label", {}, "Mode ", this.mode), this.whole),
      make("label", { class: "time", for: "moment" }, "Moment: move it with the arrow keys",
        this.slider),
      this.shares, this.keyOfShares(), this.said, this.description, ...again, this.picture,
      this.legend(), make("h3", {}, "Busiest links"), this.table);
  }

  legend() {
    return make("div", { class: "legend" }, ...[0, 0.25, 0.5, 0.75, 1].map((share) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = colour(share);
      return make("span", {}, swatch, percent(share));
    }), make("span", {}, "in use; circles are GPUs with their numbers, squares switches or " +
      "NICs; where a NIC is, the colour is that of its busier direction"));
  }

  keyOfShares() {
    return make("div", { class: "legend" }, ...this.columns.map(({ words, ink }) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = ink;
      return make("span", {}, swatch, words);
    }));
  }

  setMode(mode) {
    this.rows = this.links.get(mode);
    this.intervals = this.overTime.get(mode) ?? [];
    this.counters = this.timeline?.modes.get(mode)?.counters ?? new Map();
    this.slider.max = Math.max(this.intervals.length - 1, 0);
    this.chooseLinks();
    this.drawShares();
    this.draw();
    this.setMoment(null);
  }

  chooseLinks() {
    this.layout = layOut(this.rows.map((row) => row.link), this.shape);
    const drawn = this.rows.filter((row) => this.layout.ends(row.link));
    drawn.sort((a, b) => b.utilisation - a.utilisation);
    this.many = this.layout.vertices.length > MANY;
    this.drawn = this.many ? drawn.slice(0, MOST_LINKS) : drawn;
    this.leftOut = drawn.length - this.drawn.length;
    this.nics = this.rows.filter((row) => this.layout.nicOf(row.link) !== null);
    this.byLink = this.rows.some((row) => this.counters.has(`${row.class} ${row.link}`));
    this.classes = new Map();
    for (const name of this.counters.keys()) {
      const [, own] = /^(.*), mean of \d+$/.exec(name) ?? [];
      if (own !== undefined) this.classes.set(own, this.counters.get(name));
    }
  }

  // How busy a link is at the moment; of the run where nothing else is known.
  share(row) {
    if (this.moment === null) return Number(row.utilisation);
    const { from_us: from, to_us: to } = this.intervals[this.moment];
    const counter = this.counters.get(`${row.class} ${row.link}`) ??
      (this.byLink ? undefined : this.classes.get(row.class));
    return counter ? valueAt(counter, (Number(from) + Number(to)) / 2) : Number(row.utilisation);
  }

  draw() {
    this.paths = new Map();
    this.dots = new Map();
    const parts = [];
    if (this.layout.radius > 0) {
      for (const { x, y } of this.layout.places) {
        parts.push(svg("circle", { class: "around", cx: x, cy: y, r: this.layout.radius }));
      }
    }
    for (const row of this.drawn) {
      const path = svg("path", { d: curve(this.layout.ends(row.link)), fill: "none" },
        svg("title"));
      this.paths.set(row, path);
      parts.push(path);
    }
    for (const one of this.layout.vertices) {
      const dot = one.square
        ? svg("rect", { class: "vertex", x: one.x - one.r, y: one.y - one.r, width: 2 * one.r,
          height: 2 * one.r })
        : svg("circle", { class: "vertex", cx: one.x, cy: one.y, r: one.r });
      dot.append(svg("title", {}, one.name));
      if (one.nic !== null) this.dots.set(one.nic, dot);
      parts.push(dot);
      if (!this.many && !one.square) {
        parts.push(label(one));
      }
    }
    this.picture.replaceChildren(...parts);
  }

  setMoment(moment) {
    this.moment = this.intervals.length === 0 ? null : moment;
    this.whole.disabled = this.moment === null;
    if (this.moment === null) this.slider.value = 0;
    for (const [row, path] of this.paths) {
      const share = this.share(row);
      path.setAttribute("stroke", colour(share));
      path.setAttribute("stroke-width", 1 + (this.many ? 2.5 : 5) * share);
      path.firstChild.textContent = `${row.link} (${row.class}): ${percent(share)}`;
    }
    const ofNic = new Map();
    for (const row of this.nics) {
      const nic = this.layout.nicOf(row.link);
      ofNic.set(nic, Math.max(ofNic.get(nic) ?? 0, this.share(row)));
    }
    for (const [nic, dot] of this.dots) dot.style.fill = colour(ofNic.get(nic) ?? 0);
    this.sayMoment();
    this.showTable();
  }

  sayMoment() {
    const one = this.moment === null ? null : this.intervals[this.moment];
    const text = one === null ? "The whole run: links by their mean use."
      : `${timeText(Number(one.from_us))} to ${timeText(Number(one.to_us))}: ` +
        this.columns.map(({ column, words }) => `${words} ${percent(one[column])}`).join(", ");
    this.said.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    const of = this.byLink ? "each link at the moment"
      : this.classes.size > 0 ? "the mean of each class of links at the moment"
      : "the mean of each link over the whole run, also at a moment";
    this.description.textContent =
      `${count(this.drawn.length)} links drawn; colour and width show ${of}.` +
      (this.leftOut > 0 ? ` ${count(this.leftOut)} less busy links are left out.` : "");
    const x = one === null ? -9
      : 720 * (Number(one.from_us) + Number(one.to_us)) / 2 / this.end;
    this.line?.setAttribute("x1", x);
    this.line?.setAttribute("x2", x);
  }

  drawShares() {
    this.end = Number(this.intervals.at(-1)?.to_us ?? 1);
    const path = (column) => this.intervals.map((one, i) => {
      const y = (86 - 82 * Math.min(Number(one[column]), 1)).toFixed(1);
      const x = (us) => (720 * Number(us) / this.end).toFixed(1);
      return `${i === 0 ? "M" : "L"}${x(one.from_us)} ${y}L${x(one.to_us)} ${y}`;
    }).join("");
    this.line = svg("line", { class: "moment", x1: -9, x2: -9, y1: 0, y2: 90 });
    this.shares.replaceChildren(...this.columns.map(({ column, ink }) =>
      svg("path", { d: path(column), stroke: ink })), this.line);
  }

  showTable() {
    const rows = this.rows.map((row) => ({ row, share: this.share(row) }))
      .sort((a, b) => b.share - a.share).slice(0, MOST_ROWS);
    const cell = (text, number) => make("td", number ? { class: "number" } : {}, text);
    const left = this.rows.length - rows.length;
    this.table.replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, ...["link", "class", "in use", "bytes", "messages"].map(
        (name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map(({ row, share }) => make("tr", {}, cell(row.link),
        cell(row.class), cell(percent(share), true), cell(count(Number(row.bytes)), true),
        cell(count(Number(row.messages)), true))))),
      left > 0 ? make("p", { class: "hint" }, `${count(left)} less busy ones are left out.`) : "");
  }
}

// The columns of over_time.csv behind those of the interval, in words, each in a colour.
const INKS = ["#388bfd", "#db7b06", "#c81e1e", "#2da44e", "#8250df"];
const sharesOf = (overTime) => Object.keys(overTime[0] ?? {})
  .filter((column) => !["mode", "from_us", "to_us"].includes(column))
  .map((column, i) => ({
    column, ink: INKS[i % INKS.length],
    words: column.split("_").map((word) => word.length < 4 ? word.toUpperCase() : word).join(" "),
  }));

// Only of some results; and what to do about that.
const againParts = (view, result, runWith, timeline) => {
  const each = [...(timeline?.modes.values() ?? [])].some((mode) =>
    [...mode.counters.keys()].some((name) => /->|^nic_send nic/.test(name)));
  if (each || !result.again) return [];
  return [make("p", {}, make("button", { type: "button", onclick: () => runWith(result, "all") },
    "Run again, with each link over time"))];
};

export const showCluster = async (panel, { result, fileOf, askJson, runWith }) => {
  const file = result.timelines[0];
  const [links, overTime, shape, timeline] = await Promise.all([
    readCsv(fileOf(result.name, "links.csv")), readCsv(fileOf(result.name, "over_time.csv")),
    shapeOf({ result, askJson }), file ? readTimeline(fileOf(result.name, file)) : null]);
  if (links.length === 0) {
    panel.replaceChildren(make("p", { class: "hint" }, "This run has no links: one GPU, alone."));
    return;
  }
  new ClusterView(panel, links, overTime, shape, timeline,
    againParts(panel, result, runWith, timeline));
};
