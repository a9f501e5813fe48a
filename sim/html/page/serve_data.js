// What a result's files hold, read once each.

const kept = new Map(); // of promises, by address
const once = (address, read) => {
  if (!kept.has(address)) {
    const reading = read();
    reading.catch(() => kept.delete(address)); // to be tried again
    kept.set(address, reading);
    if (kept.size > 12) kept.delete(kept.keys().next().value);
  }
  return kept.get(address);
};

export const timeText = (us) => us === 0 ? "0 us" : us >= 1e6 ? `${(us / 1e6).toPrecision(4)} s`
  : us >= 1e3 ? `${(us / 1e3).toPrecision(4)} ms` : `${us.toPrecision(4)} us`;
export const percent = (share) =>
  `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
export const count = (number) => number.toLocaleString("en");

// RFC 4180.
const fieldsOf = (text) => {
  const rows = [];
  let row = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (!match) throw new Error("not a CSV file");
    row.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
};

// By the names of the columns.
export const readCsv = (address) => once(address, async () => {
  const response = await fetch(address);
  if (!response.ok) throw new Error((await response.text()).trim());
  const [columns, ...rows] = fieldsOf(await response.text());
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
});

export const groupBy = (rows, key) => {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row[key])) groups.set(row[key], []);
    groups.get(row[key]).push(row);
  }
  return groups;
};

// --- timelines ---

const WG_THREADS = 100000; // threads from here on are WGs and copy engines

const newMode = (pid) => ({ cluster: pid, counters: new Map(), gpus: new Map(), end: 0 });
const newGpu = (gpu) => ({ gpu, lanes: new Map() });

// Modes by name: the cluster's counters by name, and lanes of each GPU with their slices.
const indexed = (json) => {
  const modes = new Map();
  const ofProcess = new Map();
  for (const event of json.traceEvents) {
    if (event.ph !== "M" || event.name !== "process_name") continue;
    const [, mode, what] = /^([^:]*): (.*)$/.exec(event.args.name) ?? [];
    if (mode === undefined) continue;
    const isCluster = !modes.has(mode); // it comes first
    if (isCluster) modes.set(mode, newMode(event.pid));
    const gpu = isCluster ? null : newGpu(Number(what.replace("GPU ", "")));
    if (gpu) modes.get(mode).gpus.set(gpu.gpu, gpu);
    ofProcess.set(event.pid, { mode: modes.get(mode), gpu });
  }
  for (const event of json.traceEvents) {
    const owner = ofProcess.get(event.pid);
    if (owner) add(owner, event);
  }
  return { modes, leftOut: json.otherData?.left_out ?? [] };
};

const laneOf = (gpu, tid) => {
  if (!gpu.lanes.has(tid)) {
    gpu.lanes.set(tid, { tid, name: `thread ${tid}`, wg: tid >= WG_THREADS, slices: [] });
  }
  return gpu.lanes.get(tid);
};

const add = ({ mode, gpu }, event) => {
  if (event.ph === "C" && !gpu) {
    if (!mode.counters.has(event.name)) mode.counters.set(event.name, { times: [], values: [] });
    const counter = mode.counters.get(event.name);
    counter.times.push(event.ts);
    counter.values.push(event.args["%"] / 100);
  } else if (event.ph === "M" && event.name === "thread_name" && gpu) {
    laneOf(gpu, event.tid).name = event.args.name;
  } else if (event.ph === "X" && gpu) {
    laneOf(gpu, event.tid).slices.push(
      { from: event.ts, until: event.ts + event.dur, name: event.name, kind: event.cat });
    mode.end = Math.max(mode.end, event.ts + event.dur);
  }
};

export const readTimeline = (address) => once(address, async () => {
  const response = await fetch(address);
  if (!response.ok) throw new Error((await response.text()).trim());
  const timeline = indexed(await response.json());
  for (const mode of timeline.modes.values()) {
    for (const gpu of mode.gpus.values()) {
      for (const lane of gpu.lanes.values()) lane.slices.sort((a, b) => a.from - b.from);
    }
  }
  return timeline;
});

// The last value at or before `time`.
export const valueAt = (counter, time) => {
  let low = 0;
  let high = counter.times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (counter.times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : counter.values[low - 1];
};
