"""Axes of scripts/plot.py: logarithmic where values span decades, sizes in KiB, MiB and GiB, labels
that do not touch."""

import math

DECADES = 2  # more than these on one axis, and what is small cannot be read off a linear one
BINARY = [("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)]
DECIMAL = [("GB", 10**9), ("MB", 10**6), ("kB", 10**3)]
TURNED = 40  # degrees, of labels that have no room side by side
APART = 1.15  # of a label's own size: the least from one to the next


# --- scales --------------------------------------------------------------------------------------


def spans_decades(values):
    numbers = [value for value in values if value == value]  # without NaN
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) > 10**DECADES


def is_log(values, scale):
    return scale == "log" or (scale == "auto" and spans_decades(values))


def is_geometric(places):
    """Whether neighbours differ by a factor rather than by a distance, as powers of two do. The
    same rule as in reports (sim/html/page/page.js)."""
    pairs = list(zip(places, places[1:]))
    if len(pairs) < 2 or places[0] <= 0:
        return False
    factors = [math.log(after / before) for before, after in pairs]
    distances = [after - before for before, after in pairs]
    return max(factors) / min(factors) < max(distances) / min(distances)


def plain_number(value, _=None):
    return f"{value:,.12g}"


def scale_values(axes, values, scale, from_zero):
    """The vertical axis: logarithmic if told to, or if `automatic` and the values span decades."""
    values = list(values)
    if is_log(values, scale):
        axes.set_yscale("log")
        # Bars have a foot, and the smallest one a height.
        axes.set_ylim(bottom=10 ** math.floor(math.log10(min(values)) - 0.1))
        axes.yaxis.set_major_formatter(plain_number)
    elif from_zero:
        axes.set_ylim(bottom=0)


# --- sizes ---------------------------------------------------------------------------------------


def size_text(size):
    """As one would write it: exactly where that is short, in units of 1,024 where it is not."""
    for units in (BINARY, DECIMAL):
        for unit, of in units:
            if size >= of and size * 100 % of == 0:
                return f"{size / of:g} {unit}"
    unit, of = next(((unit, of) for unit, of in BINARY if size >= of), ("B", 1))
    return f"{size / of:.4g} {unit}"


def scale_across(axes, places, text):
    """The horizontal axis of numbers: a tick for each where they are few or factors apart."""
    logarithmic = is_geometric(places) or spans_decades(places)
    if logarithmic:
        axes.set_xscale("log", base=2)
    if logarithmic or len(places) <= 8:
        axes.set_xticks(places, [text(one) for one in places])
        axes.minorticks_off()


# --- labels --------------------------------------------------------------------------------------


def settle_labels(axes, across_is_even):
    """Labels that would touch are turned, if every place has one, and thinned out where that is not
    enough. Numbers on a scale are thinned out only."""
    axes.figure.draw_without_rendering()
    if touch(axes.get_xticklabels(), wide=True):
        if across_is_even:
            for label in axes.get_xticklabels():
                label.set(rotation=TURNED, ha="right", rotation_mode="anchor")
            line = line_height(axes.get_xticklabels())
            thin_out(axes.xaxis, [line / math.sin(math.radians(TURNED))] * len(axes.get_xticks()))
        else:
            thin_out(axes.xaxis, [box.width for box in boxes(axes.get_xticklabels())])
        axes.figure.draw_without_rendering()
    if touch(axes.get_yticklabels(), wide=False):
        thin_out(axes.yaxis, [box.height for box in boxes(axes.get_yticklabels())])


def boxes(labels):
    return [label.get_window_extent() for label in labels]


def line_height(labels):
    return max(label.get_fontsize() for label in labels) * labels[0].figure.dpi / 72


def touch(labels, wide):
    """Whether two neighbours do, side by side or one above the other."""
    spans = sorted((box.x0, box.x1) if wide else (box.y0, box.y1)
                   for label, box in zip(labels, boxes(labels)) if label.get_text())
    gap = 2 * labels[0].figure.dpi / 72 if labels else 0
    return any(after[0] < before[1] + (gap if wide else 0)
               for before, after in zip(spans, spans[1:]))


def thin_out(axis, sizes):
    """Takes away the labels, not the ticks, that would touch the last one kept."""
    at = axis.get_transform().transform(axis.get_majorticklocs())
    low, high = sorted(axis.get_transform().transform(axis.get_view_interval()))
    box = axis.axes.get_window_extent()
    pixels = (box.width if axis.axis_name == "x" else box.height) / (high - low)
    last = None
    texts = []
    for place, size, label in zip(at, sizes, axis.get_ticklabels()):
        kept = (last is None
                or abs(place - last[0]) * pixels >= (size + last[1]) / 2 * APART)
        last = (place, size) if kept else last
        texts.append(label.get_text() if kept else "")
    axis.set_ticks(axis.get_majorticklocs(), texts)


def room_for_lines(axes, count, fontsize):
    """Whether so many upright lines of text have room side by side."""
    points = axes.get_window_extent().width * 72 / axes.figure.dpi
    return points / count >= fontsize * APART


def fit_in_cells(axes, texts, shape, fontsize):
    """Whether the widest of the texts has room in a cell of a map of so many rows and columns."""
    sizes = []
    for text in {max(texts, key=len), "0"}:
        shown = axes.text(0, 0, text, fontsize=fontsize)
        sizes.append(shown.get_window_extent())
        shown.remove()
    box = axes.get_window_extent()
    return (max(one.width for one in sizes) < box.width / shape[1]
            and max(one.height for one in sizes) < box.height / shape[0])


def put_legend(axes, handles, labels, **how):
    """Above the axes, in as many columns as are no wider than they are: a wider one would take the
    axes' width."""
    for columns in (3, 2, 1):
        legend = axes.legend(handles, labels, ncol=columns, loc="lower center",
                             bbox_to_anchor=(0.5, 1.0), frameon=False, columnspacing=1.2, **how)
        legend.set_in_layout(False)
        axes.figure.draw_without_rendering()
        if legend.get_window_extent().width <= axes.get_window_extent().width:
            break
    legend.set_in_layout(True)
