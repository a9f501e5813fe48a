// Draws the charts of this page: the reader's choice -> rows of a table -> marks of a Vega chart.
'use strict';
const report = JSON.parse(document.getElementById('data').textContent);
const {parse, View} = vega.load();

// Colours and units are the catalogue's. A mode has the same colour wherever it is drawn; next to
// modes, other names take the palette from the fourth colour on.
const {modes: MODES, palette: COLOURS, phases, times} = report.catalogue;
const PHASES = phases.map(({colour}) => colour);
const CHARACTER = 7;  // width of a letter, about

function coloursOf(names, colours) {
  let next = names.some((name) => name in MODES) ? 3 : 0;
  return names.map((name) => MODES[name]?.colour ?? colours[next++ % colours.length]);
}

const unique = (values) => [...new Set(values)];
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// --- numbers as people read them -----------------------------------------------------------------

// Whole numbers are often sizes, so they are not rounded.
const plain = (number) => number.toLocaleString(
    'en', Number.isInteger(number) ? {} : {maximumSignificantDigits: 5});

const scaleOf = (us) => times.find((scale) => us >= scale.us) ?? times.at(-1);
function timeText(us) {
  const scale = scaleOf(Math.abs(us));
  return `${us === 0 ? 0 : (us / scale.us).toFixed(3)} ${scale.unit}`;
}

// How a column's numbers are shown: divided, with a format of d3 and a unit.
function shownAs(column, values) {
  const most = Math.max(0, ...values.filter((v) => typeof v === 'number').map(Math.abs));
  if (column.as === 'time') {
    const {us, unit} = scaleOf(most);
    return {by: us, format: ',.6~g', title: `${column.title}, ${unit}`, text: timeText};
  }
  if (column.as === 'share') {
    const digits = most < 0.1 ? 1 : 0;
    return {by: 1, format: `.${digits}%`, title: column.title,
            text: (v) => `${(v * 100).toFixed(digits)} %`};
  }
  if (column.as === 'ratio') {
    return {by: 1, format: '.2f', title: column.title, text: (v) => `${v.toFixed(2)}x`};
  }
  const [ofTitle, ofValue] = column.unit ? [`, ${column.unit}`, ` ${column.unit}`] : ['', ''];
  return {by: 1, format: ',.12~g', title: column.title + ofTitle,
          text: (v) => (typeof v === 'number' ? plain(v) + ofValue : v)};
}

// Whether neighbours differ by a factor rather than by a distance, as powers of two do. The same
// rule as in scripts/plot.py.
function isGeometric(points) {
  const sorted = [...points].sort((a, b) => a - b);
  const steps = (by) => sorted.slice(1).map((point, i) => by(point, sorted[i]));
  const spread = (values) => Math.max(...values) / Math.min(...values);
  return sorted.length > 2 &&
         spread(steps((a, b) => Math.log(a / b))) < spread(steps((a, b) => a - b));
}

// Breaks a text at blanks into lines of at most this many letters.
function inLines(text, letters) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== '' && line.length + word.length >= letters) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}

// --- one chart -----------------------------------------------------------------------------------

class Chart {
  constructor(chart) {
    this.chart = chart;
    this.table = report.tables[chart.table];
    this.index = Object.fromEntries(this.table.columns.map((column, i) => [column.name, i]));
    this.roles = Object.fromEntries(chart.roles.map((role) => [role.name, role.chosen]));
    this.fixed = {};
    this.ofAll = {};  // how columns are shown, by all rows
    this.scale = 'automatic';
    this.section = document.getElementById(chart.id);
    this.part = (name) => this.section.querySelector(`.${name}`);
    this.part('download').addEventListener('click', () => this.download());
    this.show();
  }

  column(name) { return this.table.columns[this.index[name]]; }
  values(name, rows = this.table.rows) { return rows.map((row) => row[this.index[name]]); }
  shown(name, rows) {
    if (rows) return shownAs(this.column(name), this.values(name, rows));
    return this.ofAll[name] ??= shownAs(this.column(name), this.values(name));
  }
  isNumeric(name) { return this.values(name).every((value) => typeof value === 'number'); }

  // The rows that are drawn, and the columns that are held at one value: those that no role shows
  // and that would put several values in one place. A column that varies with a drawn one is not held.
  held() {
    const shown = [...Object.values(this.roles).filter((name) => name !== this.roles.value),
                   this.chart.within].filter(Boolean);
    let rows = this.table.rows.filter((row) => this.cell(row, this.roles.value) !== null);
    const names = [];
    for (const name of this.chart.slice.filter((one) => !shown.includes(one))) {
      const places = new Map();
      for (const row of rows) {
        const place = JSON.stringify(shown.map((one) => this.cell(row, one)));
        places.set(place, (places.get(place) ?? new Set()).add(this.cell(row, name)));
      }
      if ([...places.values()].every((values) => values.size === 1)) continue;
      const values = unique(this.values(name, rows));
      if (!values.includes(this.fixed[name])) {
        this.fixed[name] = values.includes('fused') ? 'fused' : values[0];
      }
      names.push([name, values]);
      rows = rows.filter((row) => this.cell(row, name) === this.fixed[name]);
    }
    return {rows, names};
  }
  sliced() { return this.held().names.map(([name]) => name); }
  rows() { return this.held().rows; }

  // A column has one role: the other role gets the column that this one gave up.
  choose(role, name) {
    for (const other of this.chart.roles) {
      if (other.name !== role && this.roles[other.name] === name && role !== 'value') {
        const old = this.roles[role];
        this.roles[other.name] = other.choices.includes(old)
          ? old : other.choices.find((choice) => choice !== name) ?? old;
      }
    }
    this.roles[role] = name;
  }

  show() {
    this.showControls();
    this.showTable();
    this.draw();
  }

  control(label, id, options, chosen, choose) {
    const select = element('select', {id: `${this.chart.id}-${id}`});
    for (const [value, text] of options) {
      const option = element('option', {value}, text);
      option.selected = value === String(chosen);
      select.append(option);
    }
    select.addEventListener('change', () => {
      choose(select.value);
      this.show();
      document.getElementById(select.id)?.focus();
    });
    return element('label', {for: select.id}, `${label} `, select);
  }

  showControls() {
    const controls = [];
    for (const role of this.chart.roles) {
      if (role.choices.length < 2) continue;
      const options = role.choices.map((name) => [name, this.column(name).title]);
      controls.push(this.control(role.label, role.name, options, this.roles[role.name],
                                 (name) => this.choose(role.name, name)));
    }
    for (const [name, values] of this.held().names) {
      const text = this.shown(name).text;
      controls.push(this.control(this.column(name).title, `at-${name}`,
                                 values.map((value, i) => [String(i), String(text(value))]),
                                 values.indexOf(this.fixed[name]),
                                 (i) => { this.fixed[name] = values[i]; }));
    }
    if (this.chart.spec === 'lines' && !this.chart.steps && this.isNumeric(this.roles.x)) {
      const scales = ['automatic', 'linear', 'logarithmic', 'even'].map((name) => [name, name]);
      controls.push(this.control('Spacing', 'scale', scales, this.scale,
                                 (name) => { this.scale = name; }));
    }
    this.part('controls').replaceChildren(...controls);
  }

  // --- marks ---

  draw() {
    const rows = this.rows();
    const container = this.part('chart');
    const spec = structuredClone(report.specs[this.chart.spec]);
    const width = Math.max(240, container.clientWidth);
    this.view?.finalize();
    this.view = null;
    container.replaceChildren();
    if (rows.length === 0) {
      container.append(element('p', {class: 'absent'}, 'Nothing to draw: no value for this choice.'));
      return;
    }
    const signals = this[this.chart.spec](spec, rows, width);
    for (const signal of spec.signals) {
      if (signal.name in signals) signal.value = signals[signal.name];
    }
    spec.width = width;
    spec.description = this.description(rows);
    this.view = new View(parse(spec, theme()), {renderer: 'svg', container, logLevel: 1});
    this.drawn = this.view.runAsync();
  }

  description(rows) {
    const {value, category, x} = this.roles;
    const fixed = this.sliced()
      .map((name) => `${this.column(name).title} ${this.text(name, this.fixed[name])}`);
    return `${this.chart.title}: ${this.column(value).title} by ` +
           `${this.column(category ?? x).title}${fixed.length ? `, at ${fixed.join(', ')}` : ''}; ` +
           `${rows.length} values, also in the table below`;
  }

  cell(row, name) { return row[this.index[name]]; }
  text(name, value) { return String(this.shown(name).text(value)); }

  // "fused, 512: 1.2 ms"
  tip(row, names, value, shown) {
    const of = unique(names.filter(Boolean))
      .map((name) => `${this.column(name).title} ${this.text(name, this.cell(row, name))}`);
    return `${of.join(', ')}: ${shown.text(this.cell(row, value))}`;
  }

  colour(spec, series, colours) {
    const scale = spec.scales.find(({name}) => name === 'colour');
    scale.domain = unique(this.values(series)).map((value) => this.text(series, value));
    scale.range = coloursOf(scale.domain, colours);
    return scale.domain;
  }
  legendColumns(names, width) {
    const widest = Math.max(...names.map((name) => String(name).length)) * CHARACTER + 40;
    return Math.max(1, Math.floor(width / widest));
  }

  categoryText(row) {
    const {category} = this.roles;
    const text = this.text(category, this.cell(row, category));
    const {within} = this.chart;
    const full = within && within !== category ? `${text}, ${this.cell(row, within)}` : text;
    return inLines(full, this.categoryRoom() / CHARACTER);
  }
  categoryRoom() { return Math.max(110, this.part('chart').clientWidth * 0.35); }

  bars(spec, rows, width) {
    const {category, series, value} = this.roles;
    const shown = this.shown(value, rows);
    const grouped = series !== category;
    const named = this.chart.label && value === this.chart.labelled ? this.chart.label : null;
    const label = (row) => {
      const text = shown.text(this.cell(row, value));
      const more = named === null ? null : this.cell(row, named);
      return more === null ? text : `${text}, ${this.shown(named).text(more)}`;
    };
    spec.data[0].values = rows.map((row) => ({
      category: this.categoryText(row),
      series: this.cell(row, series),
      inner: grouped ? this.cell(row, series) : '',
      value: this.cell(row, value) / shown.by,
      label: label(row),
      tip: this.tip(row, [category, series], value, shown),
    }));
    const names = this.colour(spec, series, COLOURS);
    if (!grouped) spec.legends = [];
    if (!grouped && (series !== 'mode' || names.length > 4)) spec.scales.at(-1).range = [COLOURS[0]];
    return this.acrossSignals(spec, shown, names, width, grouped ? 16 : 26);
  }

  stacked(spec, rows, width) {
    const {category, series, value} = this.roles;
    const shown = this.shown(value, rows);
    const totals = new Map();
    for (const row of rows) {
      const name = this.categoryText(row);
      totals.set(name, (totals.get(name) ?? 0) + this.cell(row, value));
    }
    spec.data[0].values = rows.map((row) => ({
      category: this.categoryText(row),
      series: this.cell(row, series),
      value: this.cell(row, value) / shown.by,
      total: shown.text(totals.get(this.categoryText(row))),
      tip: this.tip(row, [category, this.chart.within, series], value, shown),
    }));
    return {...this.acrossSignals(spec, shown, this.colour(spec, series, PHASES), width, 26),
            labelRoom: 80};
  }

  acrossSignals(spec, shown, names, width, step) {
    const values = spec.data[0].values;
    const categories = unique(values.map((row) => row.category));
    const inner = unique(values.map((row) => row.inner)).length;
    const longest = Math.max(...values.map((row) => (row.label ?? '').length));
    const lines = Math.max(...categories.map((name) => name.split('\n').length));
    spec.height = categories.length * Math.max(26, step * inner + 8, lines * 14 + 6);
    return {tickFormat: shown.format, valueTitle: shown.title, labelRoom: longest * CHARACTER + 10,
            categoryRoom: this.categoryRoom(), legendColumns: this.legendColumns(names, width)};
  }

  lines(spec, rows, width) {
    const {x, series, value} = this.roles;
    const shown = this.shown(value, rows);
    const across = this.shown(x, rows);
    const numeric = this.isNumeric(x);
    const scaled = (v) => (numeric ? v / across.by : v);
    spec.data[0].values = rows.map((row) => ({
      x: scaled(this.cell(row, x)),
      series: this.text(series, this.cell(row, series)),
      value: this.cell(row, value) / shown.by,
      tip: this.tip(row, [series, x], value, shown),
    }));
    if (this.chart.steps) {
      this.lastSteps(spec.data[0].values, rows, scaled);
      const [{shape, ...legend}] = spec.legends;
      spec.legends = [{...legend, symbolType: 'stroke', symbolSize: 400}];
    }
    spec.data[1].values = this.column(value).as === 'ratio' ? [1] : [];
    const points = unique(spec.data[0].values.map((row) => row.x));
    spec.height = Math.min(340, Math.max(220, width * 0.5));
    this.spaceOut(spec, points, numeric);
    if (!numeric) this.slant(spec, points, width);
    const names = this.colour(spec, series, COLOURS);
    return {xTitle: across.title, xFormat: numeric ? across.format : '', valueTitle: shown.title,
            tickFormat: shown.format, fromZero: this.column(value).as !== 'ratio',
            interpolate: this.chart.steps ? 'step-after' : 'linear',
            symbolSize: this.chart.steps ? 0 : 70, legendColumns: this.legendColumns(names, width)};
  }

  // A step holds until the next one; the last one until the column `steps`.
  lastSteps(values, rows, scaled) {
    const last = new Map();
    rows.forEach((row, i) => last.set(values[i].series, [row, values[i]]));
    for (const [row, drawn] of last.values()) {
      values.push({...drawn, x: scaled(this.cell(row, this.chart.steps))});
    }
  }

  spaceOut(spec, points, numeric) {
    const scale = spec.scales[0];
    const low = Math.min(...points);
    const wide = low > 0 && isGeometric(points);
    if (!numeric || this.scale === 'even') {
      if (numeric) points.sort((a, b) => a - b);
      spec.scales[0] = {name: 'x', type: 'point', domain: points, range: 'width', padding: 0.2};
      delete spec.axes[0].tickCount;
    } else if (low > 0 && !this.chart.steps &&
               (this.scale === 'logarithmic' || (this.scale === 'automatic' && wide))) {
      delete scale.zero;
      scale.type = 'log';
    }
    if (!this.chart.steps && points.length <= 12) spec.axes[0].values = points;
  }

  // Words too long to stand side by side are slanted.
  slant(spec, words, width) {
    const longest = Math.max(...words.map((word) => String(word).length));
    if (longest * CHARACTER * words.length < width) return;
    Object.assign(spec.axes[0], {labelAngle: -30, labelAlign: 'right', labelLimit: 150,
                                 labelOverlap: false});
    spec.height += 75;
  }

  heat(spec, rows, width) {
    const {x, y, value} = this.roles;
    const shown = this.shown(value, rows);
    const text = (name, row) => this.text(name, this.cell(row, name));
    spec.data[0].values = rows.map((row) => ({
      x: text(x, row), y: text(y, row), value: this.cell(row, value) / shown.by,
      label: shown.text(this.cell(row, value)),
      tip: this.tip(row, [x, y], value, shown),
    }));
    const inOrder = (name) => {
      const values = unique(this.values(name, rows));
      if (this.isNumeric(name)) values.sort((a, b) => a - b);
      return values.map((one) => this.text(name, one));
    };
    spec.scales[0].domain = inOrder(x);
    spec.scales[1].domain = inOrder(y);
    spec.height = spec.scales[1].domain.length * 38 + 90;
    this.slant(spec, spec.scales[0].domain, width);
    const drawn = spec.data[0].values.map((row) => row.value);
    const longest = Math.max(...spec.data[0].values.map((row) => String(row.label).length));
    // A speed-up's white is 1: neither faster nor slower.
    const far = Math.max(0.01, ...drawn.map((one) => Math.abs(one - 1)));
    const ratio = this.column(value).as === 'ratio';
    return {xTitle: this.column(x).title, yTitle: this.column(y).title, valueTitle: shown.title,
            tickFormat: shown.format, scheme: ratio ? 'purplegreen' : 'viridis',
            low: ratio ? 1 - far : Math.min(...drawn), high: ratio ? 1 + far : Math.max(...drawn),
            labelWidth: longest * CHARACTER};
  }

  // --- the same as a table and as CSV ---

  drawnTable() {
    const names = unique([...this.sliced(), this.chart.within, ...Object.values(this.roles),
                          this.chart.steps, this.chart.label].filter(Boolean));
    names.sort((a, b) => this.index[a] - this.index[b]);
    return {names, rows: this.rows().map((row) => names.map((name) => row[this.index[name]]))};
  }

  showTable() {
    const {names, rows} = this.drawnTable();
    const cell = (value) => {
      const number = typeof value === 'number';
      return element('td', number ? {class: 'number'} : {}, value === null ? '' : String(value));
    };
    const head = element('tr', {}, ...names.map((name) => element('th', {scope: 'col'}, name)));
    const body = rows.map((row) => element('tr', {}, ...row.map(cell)));
    this.part('table').replaceChildren(
      element('table', {}, element('caption', {}, this.chart.title), element('thead', {}, head),
              element('tbody', {}, ...body)));
  }

  csv() {
    const quoted = (value) => {
      const text = value === null ? '' : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const {names, rows} = this.drawnTable();
    return [names, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
  }

  download() {
    const url = URL.createObjectURL(new Blob([this.csv()], {type: 'text/csv'}));
    element('a', {href: url, download: `${this.chart.id}.csv`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

// --- the page ------------------------------------------------------------------------------------

function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, faint, line] = ['--ink', '--faint', '--line'].map((name) => style.getPropertyValue(name));
  const font = 'system-ui, sans-serif';
  return {
    background: null,
    axis: {labelColor: ink, titleColor: faint, gridColor: line, domainColor: faint, tickColor: faint,
           labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12,
           titleFontWeight: 'normal', titlePadding: 8},
    legend: {labelColor: ink, titleColor: faint, labelFont: font, titleFont: font,
             labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', labelLimit: 300},
    text: {fill: ink, font, fontSize: 12},
    rule: {stroke: faint},
  };
}

const charts = report.charts.map((chart) => new Chart(chart));
const redraw = () => charts.forEach((chart) => chart.draw());

document.getElementById('theme').addEventListener('change', (event) => {
  document.documentElement.dataset.theme = event.target.value;
  redraw();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

let width = document.documentElement.clientWidth;
addEventListener('resize', () => {
  if (document.documentElement.clientWidth === width) return;  // a phone's bars come and go
  width = document.documentElement.clientWidth;
  redraw();
});
