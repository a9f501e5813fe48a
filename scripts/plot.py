#!/usr/bin/python3
"""Figures for papers from the results.csv of a sweep (needs scripts/setup --plots).

    scripts/plot.py results/sweep/results.csv -o bars.pdf
    scripts/plot.py results/sweep/results.csv -o lines.svg --kind lines --y speedup_vs_bulk \\
        --series bandwidth_gbps --where mode=fused
    scripts/plot.py results/sweep/results.csv -o map.png --kind heatmap --x batch --y bandwidth_gbps
    weft ... | scripts/plot.py - -o - --kind breakdown >breakdown.svg

kinds: bars and lines show the field --y (time_us, speedup_vs_bulk, ...) along the axis --x, one bar
or line for each of --series (mode, or an axis). heatmap shows --value over the axes --x and --y.
breakdown shows what each mode's time is made of: computing, exposed communication, no kernel
active.

Axes are those of sweep.json next to the file, or else the columns before `point`. Titles, units and
colours come from catalogue.json next to the file, from --catalogue FILE, or from `weft schema
results`. An axis that is not drawn must have one value: choose it with --where AXIS=VALUE. Failed
points are left out, and counted on stderr. Values that span more than two decades are drawn on a
logarithmic axis (--scale). Sizes are labelled KiB, MiB, GiB. Labels that would touch are turned or
thinned out. The same results give the same bytes. exit status: 0
done; 1 a mistake in the file or the options.
"""

import argparse
import difflib
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys

import plot_axes

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIME = "time_us"
MARKERS = "os^DvPX"
DASHES = ["-", "--", ":", "-."]
CATALOGUE = "catalogue.json"
VALUE_SIZE = 7  # points, of values in the cells of a map
MODE_SIZE = 6  # of the modes' names on bars


class Mistake(Exception):
    """What the user can fix; several are reported together."""


def meant(word, known):
    near = difflib.get_close_matches(str(word), [str(one) for one in known], n=1)
    listed = ", ".join(str(one) for one in known)
    return f"; did you mean {near[0]}? Known: {listed}" if near else f"; known: {listed}"


# --- what the program says of its results --------------------------------------------------------


class Catalogue:
    """Titles, units and colours, as weft has exported them."""

    def __init__(self, source, text):
        try:
            known = json.loads(text)
            self.fields, self.modes = known["fields"], known["modes"]
            self.phases, self.palette = known["phases"], known["palette"]
            self.times, self.axis_units = known["times"], known["axis_units"]
        except (ValueError, KeyError, TypeError) as error:
            raise Mistake(f"{source}: not a catalogue of results ({error}); weft schema results "
                          "prints one") from error

    def shown_as(self, name):
        if name in self.fields:
            return self.fields[name]["as"]
        return "time" if name.endswith("_us") else "number"  # of a part of a model

    def title(self, name):
        if name in self.fields:
            return self.fields[name]["title"]
        return name.removesuffix("_us").replace("_", " ")

    def is_size(self, name):
        return next((unit == "bytes" for suffix, unit in self.axis_units.items()
                     if f"_{name}".endswith(suffix)), False)

    def axis(self, name):
        """The title of an axis of numbers, with the unit that its name ends in; labels of sizes
        have theirs."""
        for suffix, unit in self.axis_units.items():
            if name.endswith(suffix):
                title = name.removesuffix(suffix).replace("_", " ")
                return title if self.is_size(name) else f"{title}, {unit}"
        return name.replace("_", " ")

    def scaled(self, name, values):
        """Values as they are drawn, and the axis' title with its unit."""
        if self.shown_as(name) == "share":
            return values * 100, f"{self.title(name)}, %"
        if self.shown_as(name) != "time":
            return values, self.title(name)
        scale = self.time_scale(values)
        return values / scale["us"], f"{self.title(name)}, {scale['unit']}"

    def time_scale(self, values):
        most = values.abs().max()
        return next((one for one in self.times if most >= one["us"]), self.times[-1])

    def is_ratio(self, name):
        return self.shown_as(name) == "ratio"

    def colour(self, series, value, index, others):
        """A mode has its own everywhere; next to modes, others take the palette from the fourth."""
        if series != "mode":
            return self.palette[index % len(self.palette)]
        if value in self.modes:
            return self.modes[value]["colour"]
        free = [one for one in others if one not in self.modes]
        return self.palette[(3 + free.index(value)) % len(self.palette)]


def find_catalogue(path, results):
    """The given one, the one next to the results, or the one that the program itself prints."""
    beside = pathlib.Path(results).parent / CATALOGUE
    if path is None and results != "-" and beside.is_file():
        path = beside
    if path is None:
        return printed_catalogue()
    try:
        return Catalogue(path, pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error


def printed_catalogue():
    built = ROOT / "build/release/sim/weft"
    weft = built if built.is_file() else shutil.which("weft")
    if weft is None:
        raise Mistake(f"no {CATALOGUE} next to the results, and no weft to print one; "
                      "name it with --catalogue FILE")
    done = subprocess.run([weft, "schema", "results"], capture_output=True, text=True)
    return Catalogue(f"{weft} schema results", done.stdout)


# --- the file ------------------------------------------------------------------------------------


class Sweep:
    """Rows of points and modes: the axes, `mode`, then the fields."""

    def __init__(self, source, text, catalogue):
        import pandas

        self.catalogue = catalogue

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
        modes = [name.removesuffix(f"_{TIME}") for name in table.columns
                 if name.endswith(f"_{TIME}")]
        if not modes:
            raise Mistake(f"{source}: no column with a mode's time, such as bulk_time_us")
        self.rows = pandas.concat([self.of_mode(done, mode, modes) for mode in modes],
                                  ignore_index=True)
        self.modes = [mode for mode in modes if mode in set(self.rows["mode"])]
        self.fields = [name for name in self.rows.columns if name not in [*self.axes, "mode"]
                       and self.rows[name].dtype.kind in "if"]
        if self.rows.empty:
            raise Mistake(f"{source}: no point has finished, so there is nothing to draw")

    def find_axes(self, source, columns):
        beside = pathlib.Path(source).parent / "sweep.json"
        if source != "-" and beside.is_file():
            try:
                return [axis["column"] for axis in json.loads(beside.read_text())["axes"]]
            except (ValueError, KeyError, TypeError) as error:
                raise Mistake(f"{beside}: its axes must have a column each ({error})") from error
        if "point" not in columns:
            raise Mistake(f"{source}: no column point and no sweep.json next to it, so its "
                          "axes are unknown")
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
        return rows[rows[TIME].notna()]

    def values(self, name):
        return list(dict.fromkeys(self.rows[name]))

    def title(self, axis):
        numbers = all(isinstance(value, (int, float)) for value in self.values(axis))
        return self.catalogue.axis(axis) if numbers else axis.replace("_", " ")

    def text(self, name, value):
        """A value of an axis as labels show it."""
        if self.catalogue.is_size(name) and isinstance(value, (int, float)):
            return plot_axes.size_text(value)
        return text_of(value)

    def texts(self, name, values):
        return [self.text(name, one) for one in values]

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
    """Fills in what was not given, and reports all mistakes at once."""
    problems = sweep.keep(options.where)

    def known(option, name, names):
        if name is None or name in names:
            return
        mode = next((one for one in sweep.modes if name.startswith(f"{one}_")), None)
        field = mode and field_of(name, mode)
        if field in names:
            problems.append(f"--{option} {name}: choose a mode with --where: "
                            f"--{option} {field} --where mode={mode}")
        elif options.kind == "heatmap" and option != "value" and name in sweep.fields:
            problems.append(f"--{option} {name}: must be an axis for --kind heatmap; "
                            f"--value {name} shows the field")
        else:
            problems.append(f"--{option} {name}: no such column{meant(name, names)}")

    varied = sweep.varied()
    if options.kind in ("heatmap", "breakdown") and options.series:
        problems.append(f"--series: does not apply to --kind {options.kind}")
    if options.kind == "breakdown" and options.y:
        problems.append("--y: does not apply to --kind breakdown, which shows the time's parts")
    if options.kind != "heatmap" and options.value:
        problems.append(f"--value: does not apply to --kind {options.kind}; use --y")
    if options.kind == "breakdown" and options.scale == "log":
        problems.append("--scale log: does not apply to --kind breakdown, whose parts add up")
    if options.kind == "heatmap":
        speedups = [name for name in sweep.fields if name.startswith("speedup_")]
        options.value = options.value or (speedups or [TIME])[0]
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
        options.y = options.y or TIME
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
        if options.scale == "log" and not (sweep.rows[shown] > 0).all():
            problems.append(f"--scale log: {shown} has values that are not positive")
    if problems:
        raise Mistake("\n".join(problems))


def text_of(value):
    return f"{value:g}" if isinstance(value, float) and value < 1e6 else f"{value}"


def ordered(values):
    return sorted(values) if all(isinstance(one, (int, float)) for one in values) else values


def bars(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = sweep.catalogue.scaled(options.y, rows[options.y])
    places, series = ordered(sweep.values(options.x)), sweep.values(options.series)
    width = 0.8 / len(series)
    for index, one in enumerate(series):
        of_one = rows[rows[options.series] == one]
        at = [places.index(value) - 0.4 + width * (index + 0.5) for value in of_one[options.x]]
        axes.bar(at, of_one["shown"], width, label=sweep.text(options.series, one),
                 edgecolor="white", linewidth=0.3,
                 color=sweep.catalogue.colour(options.series, one, index, series))
    axes.set_xticks(range(len(places)), sweep.texts(options.x, places))
    ratio_or_scale(sweep, options, axes, rows["shown"])
    axes.set(xlabel=sweep.title(options.x), ylabel=label)


def ratio_or_scale(sweep, options, axes, values):
    """Speed-ups have a line at 1, which is neither faster nor slower."""
    ratio = sweep.catalogue.is_ratio(options.y)
    if ratio:
        axes.axhline(1, color="0.3", lw=0.8, ls="--", zorder=0.5)
    plot_axes.scale_values(axes, values, options.scale,
                           from_zero=options.kind == "lines" and not ratio)


def lines(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = sweep.catalogue.scaled(options.y, rows[options.y])
    series = sweep.values(options.series)
    places = ordered(sweep.values(options.x))
    numeric = all(isinstance(one, (int, float)) for one in places)
    for index, one in enumerate(series):
        of_one = rows[rows[options.series] == one]
        of_one = of_one.sort_values(options.x) if numeric else of_one
        across = of_one[options.x] if numeric else [places.index(v) for v in of_one[options.x]]
        axes.plot(across, of_one["shown"], label=sweep.text(options.series, one),
                  marker=MARKERS[index % 7],
                  ls=DASHES[index % 4],
                  color=sweep.catalogue.colour(options.series, one, index, series))
    if not numeric:
        axes.set_xticks(range(len(places)), sweep.texts(options.x, places))
    else:
        plot_axes.scale_across(axes, places, lambda value: sweep.text(options.x, value))
    ratio_or_scale(sweep, options, axes, rows["shown"])
    axes.set(xlabel=sweep.title(options.x), ylabel=label)


def heatmap(sweep, options, axes):
    rows = sweep.rows.copy()
    rows["shown"], label = sweep.catalogue.scaled(options.value, rows[options.value])
    across, up = ordered(sweep.values(options.x)), ordered(sweep.values(options.y))
    cells = rows.pivot(index=options.y, columns=options.x, values="shown")
    cells = cells.reindex(index=up, columns=across).to_numpy()
    speedup = sweep.catalogue.is_ratio(options.value)
    # White is 1: neither faster nor slower. Green is faster, as in reports.
    far = max(0.01, abs(rows["shown"] - 1).max())
    logarithmic = not speedup and plot_axes.is_log(rows["shown"], options.scale)
    limits = ({"vmin": 1 - far, "vmax": 1 + far} if speedup else
              {"norm": "log"} if logarithmic else {})
    image = axes.imshow(cells, aspect="auto", origin="lower", cmap="PRGn" if speedup else "viridis",
                        **limits)
    axes.set_xticks(range(len(across)), sweep.texts(options.x, across))
    axes.set_yticks(range(len(up)), sweep.texts(options.y, up))
    axes.figure.colorbar(image, ax=axes, label=label,
                         format=plot_axes.plain_number if logarithmic else None)
    axes.set_facecolor("0.85")  # where a point failed
    axes.set(xlabel=sweep.title(options.x), ylabel=sweep.title(options.y))
    plot_axes.settle_labels(axes, across_is_even=True)
    form = "{:.2f}" if speedup else "{:.3g}"
    texts = [form.format(value) for value in rows["shown"]]
    if plot_axes.fit_in_cells(axes, texts, cells.shape, VALUE_SIZE):
        write_values(axes, image, cells, form)


def write_values(axes, image, cells, form):
    for row, values in enumerate(cells):
        for column, value in enumerate(values):
            nothing = value != value  # NaN
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = not nothing and 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            axes.text(column, row, "-" if nothing else form.format(value), ha="center",
                      va="center", fontsize=VALUE_SIZE, color="white" if dark else "black")


def breakdown(sweep, options, axes):
    rows = sweep.rows.copy()
    phases = sweep.catalogue.phases
    parts = [phase["field"] for phase in phases if phase["field"]]
    lacking = set(parts) - set(sweep.fields)
    if lacking:
        raise Mistake(f"--kind breakdown: no mode has {', '.join(sorted(lacking))}")
    by = sweep.catalogue.time_scale(rows[TIME])["us"]
    rest = (rows[TIME] - sum(rows[part] for part in parts)).clip(0)
    places, modes = ordered(sweep.values(options.x)), sweep.modes
    width = 0.84 / len(modes)
    at = [places.index(row[options.x]) - 0.42 + width * (modes.index(row["mode"]) + 0.5)
          for _, row in rows.iterrows()]
    bottom = rows[TIME] * 0
    for phase in phases:
        heights = (rows[phase["field"]] if phase["field"] else rest) / by
        axes.bar(at, heights, width * 0.94, bottom=bottom, color=phase["colour"],
                 label=phase["title"])
        bottom = bottom + heights
    title = sweep.title(options.x)
    if plot_axes.room_for_lines(axes, len(places) * len(modes), MODE_SIZE):
        name_bars(axes, zip(at, rows["mode"], bottom))
        longest = max(len(mode) for mode in modes)
        axes.set_ylim(top=bottom.max() * (1.03 + 0.07 * longest / options.height))
    else:
        title += f" (bars from left to right: {', '.join(modes)})"
    axes.set_xticks(range(len(places)), sweep.texts(options.x, places))
    axes.set(xlabel=title, ylabel=sweep.catalogue.scaled(TIME, rows[TIME])[1])


def name_bars(axes, bars_of_modes):
    for where, mode, top in bars_of_modes:
        axes.annotate(mode, (where, top), (0, 2), textcoords="offset points", ha="center",
                      va="bottom", rotation=90, fontsize=MODE_SIZE)


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
            plot_axes.put_legend(axes, handles, labels, title=name, title_fontsize=7)
        numeric = all(isinstance(one, (int, float)) for one in sweep.values(options.x))
        plot_axes.settle_labels(axes, across_is_even=options.kind != "lines" or not numeric)
    return figure


# --- the command ---------------------------------------------------------------------------------


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="results.csv of a sweep; - is stdin")
    parser.add_argument("-o", "--output", required=True,
                        help=".pdf, .svg or .png; - is stdout, in --format")
    parser.add_argument("--kind", choices=list(KINDS), default="bars")
    parser.add_argument("--x", help="horizontal axis; default: the first that varies")
    parser.add_argument("--y", help="bars, lines: the field to show; default: time_us; "
                                    "heatmap: vertical axis")
    parser.add_argument("--series", help="bars, lines: one bar or line per value; default: mode")
    parser.add_argument("--value", help="heatmap: the field to show; default: the speed-up")
    parser.add_argument("--where", action="append", default=[], metavar="AXIS=VALUE",
                        help="only these points (repeatable); also mode=fused")
    parser.add_argument("--catalogue", metavar="FILE", help="titles, units and colours; default: "
                        f"{CATALOGUE} next to the results, else from weft schema results")
    parser.add_argument("--scale", choices=["auto", "linear", "log"], default="auto",
                        help="of the values; default: auto, log where they span two decades")
    parser.add_argument("--format", choices=["svg", "pdf", "png"],
                        help="format of stdout; default: svg")
    parser.add_argument("--width", type=float, default=3.5, help="inches; default: 3.5, one column")
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
    sweep = Sweep(options.results, text, find_catalogue(options.catalogue, options.results))
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
