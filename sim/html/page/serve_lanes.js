// Slices of time on a canvas, a lane above the other, with a part of the time in view.
import { timeText } from "/serve_data.js";

const LANE = 18;
const AXIS = 22;
const CLOSEST = 0.01; // us in view
const INKS = ["#388bfd", "#db7b06", "#2da44e", "#8250df", "#bf3989", "#1b7c83", "#9a6700",
  "#6e7781", "#cf222e", "#0a3069"];

export const inkOf = (slice, names) => slice.kind === "wait" ? "#b6bec7"
  : INKS[names.indexOf(slice.name) % INKS.length] ?? "#6e7781";

export class Lanes {
  constructor(canvas, onView) {
    this.canvas = canvas;
    this.onView = onView;
    this.lanes = [];
    this.show([], [], 1);
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(lanes, names, end) {
    this.lanes = lanes;
    this.names = names;
    this.end = end;
    this.canvas.style.height = `${AXIS + LANE * Math.max(lanes.length, 1)}px`;
    this.look(0, end);
  }

  look(from, until) {
    const width = Math.min(Math.max(until - from, CLOSEST), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - width);
    this.until = this.from + width;
    this.draw();
    this.onView(this.from, this.until);
  }

  // Nearer or further, around the middle of what is in view.
  zoom(factor) {
    const middle = (this.from + this.until) / 2;
    const half = (this.until - this.from) * factor / 2;
    this.look(middle - half, middle + half);
  }

  move(share) {
    const by = (this.until - this.from) * share;
    const width = this.until - this.from;
    const from = Math.min(Math.max(this.from + by, 0), this.end - width);
    this.look(from, from + width);
  }

  key(event) {
    const does = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25),
      Home: () => this.look(0, this.end), 0: () => this.look(0, this.end),
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does();
  }

  labelWidth() { return this.canvas.clientWidth < 480 ? 86 : 150; }

  // What is at this place of the canvas: a lane and its slice, if there is one.
  at(x, y) {
    const lane = this.lanes[Math.floor((y - AXIS) / LANE)];
    const left = this.labelWidth();
    if (!lane || x < left) return null;
    const share = (x - left) / (this.canvas.clientWidth - left);
    const time = this.from + share * (this.until - this.from);
    const slice = lane.slices.find((one) => one.from <= time && time < one.until);
    return slice ? { lane, slice } : null;
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    const style = getComputedStyle(this.canvas);
    const left = this.labelWidth();
    this.drawAxis(pen, left, width, height, style);
    this.lanes.forEach((lane, i) => this.drawLane(pen, lane, AXIS + i * LANE, left, width, style));
  }

  drawAxis(pen, left, width, height, style) {
    const marks = Math.max(2, Math.floor((width - left) / 130));
    pen.fillStyle = style.color;
    pen.strokeStyle = "#8b949e55";
    for (let i = 0; i <= marks; ++i) {
      const x = left + (width - left) * i / marks;
      pen.beginPath();
      pen.moveTo(x, AXIS - 4);
      pen.lineTo(x, height);
      pen.stroke();
      pen.textAlign = i === 0 ? "left" : i === marks ? "right" : "center";
      pen.fillText(timeText(this.from + (this.until - this.from) * i / marks), x, 12);
    }
  }

  drawLane(pen, lane, top, left, width, style) {
    pen.textAlign = "left";
    pen.fillStyle = style.color;
    pen.fillText(lane.label, 2, top + 13, left - 6);
    const scale = (width - left) / (this.until - this.from);
    let drawn = left - 1; // nothing is seen of what is narrower than half a pixel beyond this
    for (const slice of lane.slices) {
      if (slice.until < this.from) continue;
      if (slice.from > this.until) break;
      const from = Math.max(left, left + (slice.from - this.from) * scale);
      const until = Math.min(width, left + (slice.until - this.from) * scale);
      if (until < drawn + 0.5) continue;
      drawn = until;
      pen.fillStyle = inkOf(slice, this.names);
      const gap = until - from > 3 ? 1 : 0;
      pen.fillRect(from, top + 1, Math.max(until - from - gap, 0.5), LANE - 2);
      if (until - from < 40) continue;
      pen.save();
      pen.beginPath();
      pen.rect(from, top, until - from - 3, LANE);
      pen.clip();
      pen.fillStyle = slice.kind === "wait" ? "#1b1f24" : "#ffffff";
      pen.fillText(slice.name, from + 3, top + 13);
      pen.restore();
    }
  }
}
