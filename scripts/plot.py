#!/usr/bin/python3
"""Figures for papers from the results.csv of a sweep (wants scripts/setup --plots).

    scripts/plot.py results/sweep/results.csv -o bars.pdf
    scripts/plot.py results/sweep/results.csv -o lines.svg --kind lines --y speedup_vs_bulk \\
        --series bandwidth_gbps --where mode=fused
    scripts/plot.py results/sweep/results.csv -o map.png --kind heatmap --x batch --y bandwidth_gbps
    weft ... | scripts/plot.py - -o - --kind breakdown >breakdown.svg

kinds: bars and lines show the field --y (time_us, speedup_vs_bulk, ...) along the axis --x, one bar
or line for each of --series (mode, or an axis). heatmap shows --value over the axes --x and --y.
breakdown shows what each mode's time is made of: computing, exposed communication, neither.

Axes are those of sweep.json beside the file, else the columns before `point`. An axis that is not
drawn must have one value: choose it with --where AXIS=VALUE. Points that failed are left out, and
their number is said. The same results give the same bytes. exit status: 0 done; 1 a mistake in
the file or the options.
"""

import argparse
import difflib
import io
import json
import math
import pathlib
import re
import sys

# Okabe and Ito's colours first. A mode has its own wherever it is drawn, whichever others are, here
# and in reports (sim/html/page/page.js): those of kind c3 are never drawn with the first three.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000"]
MODES = {"bulk": "#0072B2", "kernel": "#E69F00", "fused": "#009E73",
         "compute_alone": "#8C8C8C", "comm_alone": "#B8B8B8", "comm_alone_dma": "#D8C9A8",
         "serial": "#0072B2", "base": "#E69F00", "comm_first": "#009E73", "priority": "#D55E00",
         "launch_order": "#CC79A7", "partition": "#56B4E9", "priority+partition": "#332288",
         "lookup": "#882255", "best": "#117733", "dma": "#F0E442", "dma+partition": "#999933"}
PHASES = {"computing": "#56B4E9", "exposed communication": "#D55E00", "neither": "#999999"}
MARKERS = "os^DvPX"
DASHES = ["-", "--", ":", "-."]
TITLES = {"time_us": "time", "speedup_vs_bulk": "speed-up over bulk",
          "speedup_vs_serial": "speed-up over serial", "computing_us": "computing",
          "exposed_comm_us": "exposed communication", "cu_busy": "CUs busy",
          "hbm_busy": "HBM busy", "links_busy_max": "busiest link busy"}
# Waits are sums over all WGs.
WAITS = {"post": "a post", "nic_queue": "NIC queues", "store": "stores", "flag": "flags"}
TITLES |= {f"wait_{one}_us": f"waiting for {what}, all WGs" for one, what in WAITS.items()}
UNITS = {"_us": "us", "_bytes": "bytes", "_gbps": "Gb/s", "_tflops": "TFLOP/s",
         "_m_per_s": "million/s"}
SHARES = {"cu_busy", "hbm_busy", "links_busy_max", "fraction_of_ideal"}


class Mistake(Exception):
    """What the user can mend; several are told together."""


def meant(word, known):
    near = difflib.get_close_matches(str(word), [str(one) for one in known], n=1)
    listed = ", ".join(str(one) for one in known)
    return f"; did you mean {near[0]}? Known: {listed}" if near else f"; known: {listed}"


# --- the file ------------------------------------------------------------------------------------


class Sweep:
    """Rows of points and modes: the axes, `mode`, then the fields."""

    def __init__(self, source, text):
        import pandas

        try:
            table = pandas.read_csv(io.StringIO(text), dtype={"point": str, "error": str})
        except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
            raise Mistake(f"{source}: {error}") from error
        self.axes = self.find_axes(source, list(table.columns))
        missing = [name for name in [*self.axes, "status"] if name not in table.columns]
        if missing:
            raise Mistake("\n".join(f"{source}: no column {name}{meant(name, table.columns)}"
                                    for name in missing))
        self.failed = int((table["status"] != "ok").sum())
        self.points = len(table)
        done = table[table["status"] == "ok"]
        modes = [name.removesuffix("_time_us") for name in table.columns
                 if name.endswith("_time_us")]
        if not modes:
            raise Mistake(f"{source}: no mode's time; such a column is called bulk_time_us")
        self.rows = pandas.concat([self.of_mode(done, mode, modes) for mode in modes],
                                  ignore_index=True)
        self.modes = [mode for mode in modes if mode in set(self.rows["mode"])]
        self.fields = [name for name in self.rows.columns if name not in [*self.axes, "mode"]
                       and self.rows[name].dtype.kind in "if"]
        if self.rows.empty:
            raise Mistake(f"{source}: no point finished, so there is nothing to draw")

    def find_axes(self, source, columns):
        beside = pathlib.Path(source).parent / "sweep.json"
        if source != "-" and beside.is_file():
            try:
                return [axis["column"] for axis in json.loads(beside.read_text())["axes"]]
            except (ValueError, KeyError, TypeError) as error:
                raise Mistake(f"{beside}: no axes with a column each ({error})") from error
        if "point" not in columns:
            raise Mistake(f"{source}: no column point, and no sweep.json beside it: which columns "
                          "are the axes?")
        return columns[:columns.index("point")]

    def of_mode(self, table, mode, modes):
        """The columns of one mode under the names of its fields."""
        fields = {}
        for column in table.columns:
            # Names of modes have underscores too: the longest that fits is meant.
            fitting = [one for one in modes if column.startswith(one + "_")]
            if fitting and max(fitting, key=len) == mode:
                fields[column] = field_of(column, mode)
        rows = table[[*self.axes, *fields]].rename(columns=fields)
        rows.insert(len(self.axes), "mode", mode)
        return rows[rows["time_us"].notna()]

    def values(self, name):
        return list(dict.fromkeys(self.rows[name]))

    def title(self, axis):
        """With the unit that the name of an axis of numbers ends in."""
        numbers = all(isinstance(value, (int, float)) for value in self.values(axis))
        for suffix, unit in UNITS.items() if numbers else ():
            if axis.endswith(suffix):
                return f"{axis.removesuffix(suffix).replace('_', ' ')}, {unit}"
        return axis.replace("_", " ")

    def axes_of_a_map(self, across, up):
        """Those that are given, and the first of which neither follows from the other, as those of
        a zip do. The same rule as in reports (sim/html/sweep_page.cc)."""
        varied = self.varied()
        pairs = ((x, y) for x in ([across] if across else varied)
                 for y in ([up] if up else varied) if x != y)
        free = (pair for pair in pairs if set(pair) <= set(self.axes)
                and len(self.rows[list(pair)].drop_duplicates())
                > max(len(self.values(name)) for name in pair))
        x = across or next((one for one in varied if one != up), None)
        y = up or next((one for one in varied if one != x), None)
        return next(free, (x, y))

    def varied(self):
        return [axis for axis in self.axes if len(self.values(axis)) > 1] or self.axes

    def keep(self, wheres):
        """Only rows of which AXIS=VALUE holds."""
        problems = []
        for where in wheres:
            name, equals, text = where.partition("=")
            if not equals:
                problems.append(f"--where {where}: must be COLUMN=VALUE")
            elif name not in [*self.axes, "mode"]:
                problems.append(f"--where {where}: no axis {name}"
                                + meant(name, [*self.axes, "mode"]))
            else:
                kept = self.rows[[same(value, text) for value in self.rows[name]]]
                if kept.empty:
                    problems.append(f"--where {where}: no such value"
                                    + meant(text, self.values(name)))
                else:
                    self.rows = kept
        self.modes = [mode for mode in self.modes if mode in set(self.rows["mode"])]
        return problems

    def open_columns(self, drawn):
        """What must be held: columns of which several values would be drawn in one place.

        Axes that change together are one: the first of them is named.
        """
        rows = self.rows
        for name in [*self.axes, "mode"]:
            if name in drawn or rows.groupby(drawn)[name].nunique().max() < 2:
                continue
            values = list(dict.fromkeys(rows[name]))
            yield name, values
            rows = rows[rows[name] == values[0]]


def field_of(column, mode):
    """What a mode's column of the file is called here."""
    return re.sub(r"^(vs_.*)_speedup$", r"speedup_\1", column.removeprefix(mode + "_"))


def same(value, text):
    try:
        return float(value) == float(text)
    except ValueError:
        return str(value) == text


# --- what is drawn -------------------------------------------------------------------------------


def choose(sweep, options):
    """Fills in what was not said, and tells every mistake at once."""
    problems = sweep.keep(options.where)

    def known(option, name, names):
        if name is None or name in names:
            return
        mode = next((one for one in sweep.modes if name.startswith(f"{one}_")), None)
        field = mode and field_of(name, mode)
        if field in names:
            problems.append(f"--{option} {name}: a mode is chosen by --where: "
                            f"--{option} {field} --where mode={mode}")
        elif options.kind == "heatmap" and option != "value" and name in sweep.fields:
            problems.append(f"--{option} {name}: is an axis of --kind heatmap; --value {name} "
                            "shows the field")
        else:
            problems.append(f"--{option} {name}: no such column{meant(name, names)}")

    varied = sweep.varied()
    if options.kind in ("heatmap", "breakdown") and options.series:
        problems.append(f"--series: has no meaning for --kind {options.kind}")
    if options.kind == "breakdown" and options.y:
        problems.append("--y: has no meaning for --kind breakdown, which shows the time's parts")
    if options.kind != "heatmap" and options.value:
        problems.append(f"--value: has no meaning for --kind {options.kind}; --y is what it shows")
    if options.kind == "heatmap":
        speedups = [name for name in sweep.fields if name.startswith("speedup_")]
        options.value = options.value or (speedups or ["time_us"])[0]
        options.x, options.y = sweep.axes_of_a_map(options.x, options.y)
        if options.x is None or options.y is None:
            problems.append("--kind heatmap: needs two axes that vary; there is one")
        known("x", options.x, sweep.axes)
        known("y", options.y, sweep.axes)
        known("value", options.value, sweep.fields)
        drawn = [options.x, options.y]
    else:
        options.series = "mode" if options.kind == "breakdown" else options.series or "mode"
        options.x = options.x or next((one for one in varied if one != options.series), varied[0])
        options.y = options.y or "time_us"
        known("x", options.x, sweep.axes)
        known("series", options.series, [*sweep.axes, "mode"])
        known("y", options.y, sweep.fields)
        drawn = [options.x, options.series]
    if not problems:
        shown = options.value if options.kind == "heatmap" else options.y
        sweep.rows = sweep.rows[sweep.rows[shown].notna()]
        sweep.modes = [mode for mode in sweep.modes if mode in set(sweep.rows["mode"])]
        for name, values in sweep.open_columns(drawn):
            listed = "|".join(str(value) for value in values)
            series = options.kind in ("bars", "lines")
            problems.append(f"{name} has {len(values)} values: choose one with --where "
                            f"{name}={listed}"
                            + (f", or draw them with --series {name}" if series else ""))
    if problems:
        raise Mistake("\n".join(problems))


def title(name):
    return TITLES.get(name, name.removesuffix("_us").replace("_", " "))


def scaled(name, values):
    """Values as they are drawn, and the axis' title with its unit."""
    if name in SHARES:
        return values * 100, f"{title(name)}, %"
    if not name.endswith("_us"):
        return values, title(name)
    most = values.abs().max()
    by, unit = (1e6, "s") if most >= 1e6 else (1e3, "ms") if most >= 1e3 else (1, "us")
    return values / by, f"{title(name)}, {unit}"


def text_of(value):
    return f"{value:g}" if isinstance(value, float) and value < 1e6 else f"{value}"


def colour(series, value, index, others):
    if series != "mode":
        return COLOURS[index % len(COLOURS)]
    if value in MODES:
        return MODES[value]
    free = [one for one in others if one not in MODES]
    return COLOURS[(3 + free.index(value)) % len(COLOURS)]


def ordered(values):
    return sorted(values) if all(isinstance(one, (int, float)) for one in values) else values


def bars(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = scaled(options.y, rows[options.y])
    places, series = ordered(sweep.values(options.x)), sweep.values(options.series)
    width = 0.8 / len(series)
    for index, one in enumerate(series):
        of_one = rows[rows[options.series] == one]
        at = [places.index(value) - 0.4 + width * (index + 0.5) for value in of_one[options.x]]
        axes.bar(at, of_one["shown"], width, label=text_of(one), edgecolor="white", linewidth=0.3,
                 color=colour(options.series, one, index, series))
    axes.set_xticks(range(len(places)), [text_of(one) for one in places])
    if options.y.startswith("speedup"):
        axes.axhline(1, color="0.3", lw=0.8, ls="--", zorder=0.5)
    axes.set(xlabel=sweep.title(options.x), ylabel=label)


def lines(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = scaled(options.y, rows[options.y])
    series = sweep.values(options.series)
    places = ordered(sweep.values(options.x))
    numeric = all(isinstance(one, (int, float)) for one in places)
    for index, one in enumerate(series):
        of_one = rows[rows[options.series] == one]
        of_one = of_one.sort_values(options.x) if numeric else of_one
        across = of_one[options.x] if numeric else [places.index(v) for v in of_one[options.x]]
        axes.plot(across, of_one["shown"], label=text_of(one), marker=MARKERS[index % 7],
                  ls=DASHES[index % 4], color=colour(options.series, one, index, series))
    if not numeric:
        axes.set_xticks(range(len(places)), [text_of(one) for one in places])
    elif is_geometric(places):
        axes.set_xscale("log", base=2)
    if numeric and len(places) <= 8:
        axes.set_xticks(places, [text_of(one) for one in places])
        axes.minorticks_off()
    if options.y.startswith("speedup"):
        axes.axhline(1, color="0.3", lw=0.8, ls="--", zorder=0.5)
    else:
        axes.set_ylim(bottom=0)
    axes.set(xlabel=sweep.title(options.x), ylabel=label)


def is_geometric(places):
    """Whether neighbours differ by a factor rather than by a distance, as powers of two do. The
    same rule as in reports (sim/html/page/page.js)."""
    pairs = list(zip(places, places[1:]))
    if len(pairs) < 2 or places[0] <= 0:
        return False
    factors = [math.log(after / before) for before, after in pairs]
    distances = [after - before for before, after in pairs]
    return max(factors) / min(factors) < max(distances) / min(distances)


def heatmap(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = scaled(options.value, rows[options.value])
    across, up = ordered(sweep.values(options.x)), ordered(sweep.values(options.y))
    cells = rows.pivot(index=options.y, columns=options.x, values="shown")
    cells = cells.reindex(index=up, columns=across).to_numpy()
    speedup = options.value.startswith("speedup")
    # White is 1: neither faster nor slower. Green is faster, as in reports.
    far = max(0.01, abs(rows["shown"] - 1).max())
    limits = {"vmin": 1 - far, "vmax": 1 + far} if speedup else {}
    image = axes.imshow(cells, aspect="auto", origin="lower", cmap="PRGn" if speedup else "viridis",
                        **limits)
    axes.set_xticks(range(len(across)), [text_of(one) for one in across])
    axes.set_yticks(range(len(up)), [text_of(one) for one in up])
    axes.figure.colorbar(image, ax=axes, label=label)
    axes.set_facecolor("0.85")  # where a point failed
    if cells.size <= 100:
        write_values(axes, image, cells, "{:.2f}" if speedup else "{:.3g}")
    axes.set(xlabel=sweep.title(options.x), ylabel=sweep.title(options.y))


def write_values(axes, image, cells, form):
    for row, values in enumerate(cells):
        for column, value in enumerate(values):
            nothing = value != value  # NaN
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = not nothing and 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            axes.text(column, row, "-" if nothing else form.format(value), ha="center",
                      va="center", fontsize=7, color="white" if dark else "black")


def breakdown(sweep, options, axes):
    rows = sweep.rows.copy()
    lacking = {"computing_us", "exposed_comm_us"} - set(sweep.fields)
    if lacking:
        raise Mistake(f"--kind breakdown: no mode has {', '.join(sorted(lacking))}")
    rows["computing"], rows["exposed communication"] = rows["computing_us"], rows["exposed_comm_us"]
    rows["neither"] = (rows["time_us"] - rows["computing_us"] - rows["exposed_comm_us"]).clip(0)
    _, label = scaled("time_us", rows["time_us"])
    by = {"us": 1, "ms": 1e3, "s": 1e6}[label.split(", ")[1]]
    places, modes = ordered(sweep.values(options.x)), sweep.modes
    width = 0.84 / len(modes)
    at = [places.index(row[options.x]) - 0.42 + width * (modes.index(row["mode"]) + 0.5)
          for _, row in rows.iterrows()]
    bottom = rows["time_us"] * 0
    for phase, shade in PHASES.items():
        axes.bar(at, rows[phase] / by, width * 0.94, bottom=bottom, color=shade, label=phase)
        bottom = bottom + rows[phase] / by
    for where, row, top in zip(at, rows["mode"], bottom):
        axes.annotate(row, (where, top), (0, 2), textcoords="offset points", ha="center",
                      va="bottom", rotation=90, fontsize=6)
    longest = max(len(mode) for mode in modes)
    axes.set_ylim(top=bottom.max() * (1.03 + 0.07 * longest / options.height))
    axes.set_xticks(range(len(places)), [text_of(one) for one in places])
    axes.set(xlabel=sweep.title(options.x), ylabel=label)


KINDS = {"bars": bars, "lines": lines, "heatmap": heatmap, "breakdown": breakdown}


def figure_of(sweep, options):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "svg.hashsalt": "weft",  # the same file from the same results
        "pdf.fonttype": 42,  # fonts that publishers take
        "font.size": 8, "axes.labelsize": 8, "legend.fontsize": 7, "lines.markersize": 4,
        "lines.linewidth": 1.3, "axes.spines.top": False, "axes.spines.right": False})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(options.width, options.height), facecolor="white",
                                   constrained_layout=True)
    KINDS[options.kind](sweep, options, axes)
    if options.kind != "heatmap":
        axes.grid(True, axis="y", color="0.85", lw=0.5)
        axes.set_axisbelow(True)
        handles, labels = axes.get_legend_handles_labels()
        if len(labels) > 1:
            name = None if options.series == "mode" else sweep.title(options.series)
            axes.legend(handles, labels, title=name, title_fontsize=7, frameon=False, ncol=3,
                        loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.2)
    return figure


# --- the command ---------------------------------------------------------------------------------


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="results.csv of a sweep; - is stdin")
    parser.add_argument("-o", "--output", required=True,
                        help=".pdf, .svg or .png; - is stdout, as --format says")
    parser.add_argument("--kind", choices=list(KINDS), default="bars")
    parser.add_argument("--x", help="axis that goes across; default: the first that varies")
    parser.add_argument("--y", help="bars, lines: the field that is shown (time_us); "
                                    "heatmap: axis that goes up")
    parser.add_argument("--series", help="bars, lines: a bar or line for each; default: mode")
    parser.add_argument("--value", help="heatmap: the field that is shown; default: the speed-up")
    parser.add_argument("--where", action="append", default=[], metavar="AXIS=VALUE",
                        help="only such points (repeatable); also mode=fused")
    parser.add_argument("--format", choices=["svg", "pdf", "png"], help="of stdout; default: svg")
    parser.add_argument("--width", type=float, default=3.5, help="inches; default: a column's 3.5")
    parser.add_argument("--height", type=float, default=2.4, help="inches; default: 2.4")
    return parser.parse_args(arguments)


def format_of(options):
    if options.output == "-":
        return options.format or "svg"
    suffix = pathlib.Path(options.output).suffix.removeprefix(".")
    if suffix not in ("svg", "pdf", "png"):
        raise Mistake(f"-o {options.output}: must end in .pdf, .svg or .png")
    return suffix


def picture(options):
    """The bytes of the figure."""
    kind = format_of(options)
    try:
        text = (sys.stdin.read() if options.results == "-"
                else pathlib.Path(options.results).read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistake(f"{options.results}: {error.strerror}") from error
    sweep = Sweep(options.results, text)
    choose(sweep, options)
    if sweep.failed:
        print(f"plot.py: {sweep.failed} of {sweep.points} points failed and are left out",
              file=sys.stderr)
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}
    made = io.BytesIO()
    figure_of(sweep, options).savefig(made, format=kind, dpi=300, metadata=dates[kind])
    return made.getvalue()


def main():
    options = options_of(sys.argv[1:])
    try:
        made = picture(options)
        if options.output == "-":
            sys.stdout.buffer.write(made)
        else:
            pathlib.Path(options.output).write_bytes(made)
    except Mistake as mistake:
        for line in str(mistake).splitlines():
            print(f"plot.py: error: {line}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot.py: error: {options.output}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
