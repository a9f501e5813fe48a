#!/usr/bin/python3
"""scripts/plot.py on the sweep of tests/html: what is drawn is what the file says."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "tests/html/sweep/results.csv"
sys.path.insert(0, str(ROOT / "scripts"))
import plot  # noqa: E402
import plot_axes  # noqa: E402

CATALOGUE = plot.printed_catalogue()


def sweep_of(text):
    return plot.Sweep("-", text, CATALOGUE)


def points(**where):
    """Rows that did not fail, of these values."""
    with open(RESULTS, newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["status"] == "ok"]
    return [row for row in rows if all(row[name] == value for name, value in where.items())]


def figure(*arguments):
    options = plot.options_of([str(RESULTS), "-o", "-", *arguments])
    sweep = plot.Sweep(str(RESULTS), RESULTS.read_text(), CATALOGUE)
    plot.choose(sweep, options)
    return plot.figure_of(sweep, options).axes


def figure_of_text(text, *arguments):
    options = plot.options_of(["-", "-o", "-", *arguments])
    sweep = sweep_of(text)
    plot.choose(sweep, options)
    return plot.figure_of(sweep, options).axes


def table(axis, times):
    """One mode's times along an axis."""
    return "\n".join([f"{axis},point,status,error,bulk_time_us",
                      *(f"{place},{place},ok,,{time}" for place, time in times.items())])


def numbers(rows, column, by=1000):
    return [float(row[column]) / by for row in rows]


class Figures(unittest.TestCase):
    def assert_close(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assertAlmostEqual(one, other, places=6)

    def test_bars_are_as_high_as_the_times_say(self):
        axes, = figure("--where", "bandwidth_gbps=200", "--where", "order=as_it_is")
        rows = points(bandwidth_gbps="200", order="as_it_is")
        heights = [[bar.get_height() for bar in group] for group in axes.containers]
        self.assert_close(heights[0], numbers(rows, "bulk_time_us"))
        self.assert_close(heights[1], numbers(rows, "fused_time_us"))
        self.assertEqual(axes.get_ylabel(), "time, ms")

    def test_an_axis_is_titled_with_the_unit_that_its_name_ends_in(self):
        axes, = figure("--x", "bandwidth_gbps", "--where", "batch=1024",
                       "--where", "order=as_it_is")
        self.assertEqual(axes.get_xlabel(), "bandwidth, Gb/s")

    def test_a_map_is_of_axes_of_which_neither_follows_from_the_other(self):
        rows = ["512,100,given,a,ok,,20", "512,100,other,b,ok,,20", "1024,200,given,c,ok,,20",
                "1024,200,other,d,failed,why,"]
        text = "\n".join(["batch,nic_gbps,order,point,status,error,bulk_time_us", *rows])
        sweep = sweep_of(text)
        self.assertEqual(sweep.axes_of_a_map(None, None), ("batch", "order"))
        self.assertEqual(sweep.axes_of_a_map(None, "nic_gbps"), ("order", "nic_gbps"))
        self.assertEqual(sweep.axes_of_a_map("nic_gbps", "batch"), ("nic_gbps", "batch"))

    def test_an_axis_of_words_has_no_unit(self):
        sweep = sweep_of("order_us,point,status,error,bulk_time_us\nfirst,a,ok,,20")
        self.assertEqual(sweep.title("order_us"), "order us")

    def test_an_axis_of_factors_is_logarithmic(self):
        for places, geometric in (([50, 100, 200, 400], True), ([1, 2, 3, 4], False),
                                  ([0, 1, 2], False), ([8, 16], False), ([1, 10, 100], True),
                                  ([10, 20, 30, 45], False)):
            self.assertEqual(plot_axes.is_geometric(places), geometric, places)

    def test_lines_go_through_the_points(self):
        axes, = figure("--kind", "lines", "--y", "speedup_vs_bulk", "--series", "order",
                       "--where", "bandwidth_gbps=400")
        drawn = {line.get_label(): line for line in axes.lines}
        for order, count in (("remote_first", 5), ("as_it_is", 4)):  # one point failed
            rows = points(bandwidth_gbps="400", order=order)
            self.assertEqual(len(rows), count)
            self.assert_close(list(drawn[order].get_xdata()), numbers(rows, "batch", 1))
            self.assert_close(list(drawn[order].get_ydata()),
                              numbers(rows, "fused_vs_bulk_speedup", 1))

    def test_a_map_has_its_values_in_their_places(self):
        axes, _ = figure("--kind", "heatmap", "--where", "order=as_it_is")
        cells = axes.images[0].get_array()
        self.assertEqual(cells.shape, (3, 5))
        for row in points(order="as_it_is"):
            at = ([100, 200, 400].index(int(row["bandwidth_gbps"])),
                  [512, 1024, 2048, 4096, 8192].index(int(row["batch"])))
            self.assertAlmostEqual(cells[at], float(row["fused_vs_bulk_speedup"]))
        self.assertEqual([text.get_text() for text in axes.texts].count("-"), 1)  # it failed

    def test_a_breakdown_adds_up_to_the_time(self):
        axes, = figure("--kind", "breakdown", "--where", "order=as_it_is",
                       "--where", "bandwidth_gbps=100")
        rows = points(order="as_it_is", bandwidth_gbps="100")
        computing, exposed, neither = ([bar.get_height() for bar in group]
                                       for group in axes.containers)
        times = numbers(rows, "bulk_time_us") + numbers(rows, "fused_time_us")
        self.assert_close([sum(one) for one in zip(computing, exposed, neither)], times)
        self.assert_close(exposed[5:], numbers(rows, "fused_exposed_comm_us"))

    def test_a_mode_keeps_its_colour(self):
        for chosen in (["bulk", "fused"], ["fused"]):
            where = [] if len(chosen) > 1 else ["--where", "mode=fused"]
            axes, = figure("--where", "bandwidth_gbps=200", "--where", "order=as_it_is", *where)
            shade = axes.containers[-1][0].get_facecolor()
            self.assertEqual(tuple(round(255 * part) for part in shade[:3]), (0, 0x9E, 0x73))

    def test_a_column_of_the_file_is_answered_with_field_and_mode(self):
        text = ("batch,point,status,error,bulk_time_us,fused_time_us,fused_vs_bulk_speedup\n"
                "1,a,ok,,8,4,2\n2,b,ok,,9,3,3\n")
        options = plot.options_of(["-", "-o", "-", "--y", "fused_vs_bulk_speedup"])
        with self.assertRaises(plot.Mistake) as told:
            plot.choose(sweep_of(text), options)
        self.assertIn("--y speedup_vs_bulk --where mode=fused", str(told.exception))

    def test_axes_that_change_together_are_held_as_one(self):
        text = ("link,nic,batch,point,status,error,bulk_time_us\n"
                "100,50,1,a,ok,,8\n100,50,2,b,ok,,9\n200,99,1,c,ok,,4\n200,99,2,d,ok,,5\n")
        for arguments, said in (([], "batch has 2 values"),
                                (["--x", "batch"], "link has 2 values")):
            options = plot.options_of(["-", "-o", "-", *arguments])
            with self.assertRaises(plot.Mistake) as told:
                plot.choose(sweep_of(text), options)
            self.assertEqual(len(str(told.exception).splitlines()), 1)
            self.assertIn(said, str(told.exception))


class Axes(unittest.TestCase):
    KINDS = ("bars", "lines")

    def test_times_over_more_than_two_decades_are_on_a_logarithmic_axis(self):
        for last, scale in ((900, "linear"), (1001, "log")):
            for kind in self.KINDS:
                axes, = figure_of_text(table("batch", {1: 10, 2: 50, 3: last}), "--kind", kind)
                self.assertEqual(axes.get_yscale(), scale, (last, kind))
        self.assertLess(axes.get_ylim()[0], 0.01)  # ms: the smallest bar has a height

    def test_the_scale_can_be_chosen(self):
        text = table("batch", {1: 10, 2: 5000, 3: 0})
        for scale, said in (("linear", "linear"), ("auto", "linear")):
            axes, = figure_of_text(text, "--scale", scale)
            self.assertEqual(axes.get_yscale(), said)
        axes, = figure_of_text(table("batch", {1: 10, 2: 11}), "--scale", "log")
        self.assertEqual(axes.get_yscale(), "log")
        for arguments, said in (([], "--scale log: time_us has values that are not positive"),
                                (["--kind", "breakdown"], "--scale log: does not apply")):
            with self.assertRaises(plot.Mistake) as told:
                figure_of_text(text, "--scale", "log", *arguments)
            self.assertIn(said, str(told.exception))

    def test_sizes_are_written_as_one_would_write_them(self):
        for size, text in ((512, "512 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**20, "1 MiB"),
                           (3 * 2**30, "3 GiB"), (10**6, "1 MB"), (1234567, "1.177 MiB"),
                           (1000, "1 kB"), (0, "0 B")):
            self.assertEqual(plot_axes.size_text(size), text)

    def test_an_axis_of_sizes_has_them_as_labels_and_no_unit_in_its_title(self):
        text = table("chunk_bytes", {4096: 1, 65536: 2, 2**20: 3})
        for kind in self.KINDS:
            axes, = figure_of_text(text, "--kind", kind)
            self.assertEqual([one.get_text() for one in axes.get_xticklabels()],
                             ["4 KiB", "64 KiB", "1 MiB"])
            self.assertEqual(axes.get_xlabel(), "chunk")

    def test_an_axis_that_is_nothing_but_its_unit_has_it_as_its_title(self):
        text = table("bytes", {4096: 1, 65536: 2, 2**20: 3})
        for kind in self.KINDS:
            axes, = figure_of_text(text, "--kind", kind)
            self.assertEqual([one.get_text() for one in axes.get_xticklabels()],
                             ["4 KiB", "64 KiB", "1 MiB"])
            self.assertEqual(axes.get_xlabel(), "bytes")

    def assert_apart(self, axes):
        labels = [one for one in axes.get_xticklabels() if one.get_text()]
        self.assertGreater(len(labels), 2)
        line = plot_axes.line_height(labels)
        at = [one.get_window_extent() for one in labels]
        for before, after in zip(at, at[1:]):
            if labels[0].get_rotation():
                self.assertGreaterEqual(after.x1 - before.x1, line)
            else:
                self.assertGreater(after.x0, before.x1)

    def test_long_words_are_turned_and_stay(self):
        words = {f"a_rather_long_name_{i}": i + 1 for i in range(6)}
        axes, = figure_of_text(table("machine", words))
        axes.figure.draw_without_rendering()
        self.assertEqual([one.get_text() for one in axes.get_xticklabels()], list(words))
        self.assert_apart(axes)

    def test_too_many_labels_are_thinned_out(self):
        for kind in self.KINDS:
            axes, = figure_of_text(table("batch", {2**i: i + 1 for i in range(6, 30)}),
                                   "--kind", kind)
            axes.figure.draw_without_rendering()
            texts = [one.get_text() for one in axes.get_xticklabels()]
            self.assertEqual(len(texts), 24)
            self.assertIn("", texts)
            self.assertEqual(texts[0], "64")
            self.assert_apart(axes)

    def test_a_map_writes_its_values_where_they_have_room(self):
        rows = [f"{x},{y},{x}.{y},ok,,{x * y * 1.0345}" for x in range(1, 11) for y in range(1, 6)]
        text = "\n".join(["a,b,point,status,error,bulk_time_us", *rows])
        for width, count in (("3", 0), ("12", 50)):
            axes = figure_of_text(text, "--kind", "heatmap", "--width", width)[0]
            self.assertEqual(len(axes.texts), count)

    def test_a_legend_leaves_the_axes_their_width(self):
        rows = [f"{x},machine_of_a_long_name_{m},{x}.{m},ok,,{x + m}"
                for x in (1, 2) for m in range(6)]
        text = "\n".join(["a,machine,point,status,error,bulk_time_us", *rows])
        axes, = figure_of_text(text, "--series", "machine")
        axes.figure.draw_without_rendering()
        self.assertGreater(axes.get_window_extent().width, 0.6 * axes.figure.bbox.width)


class Command(unittest.TestCase):
    def run_it(self, *arguments, **more):
        return subprocess.run([sys.executable, ROOT / "scripts/plot.py", *map(str, arguments)],
                              capture_output=True, **more)

    WHERE = ("--where", "bandwidth_gbps=200", "--where", "order=as_it_is")

    def test_every_kind_writes_every_format_the_same_twice(self):
        kinds = {"bars": self.WHERE, "lines": self.WHERE, "breakdown": self.WHERE,
                 "heatmap": self.WHERE[2:]}
        begins = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
        with tempfile.TemporaryDirectory() as folder:
            for kind, where in kinds.items():
                for suffix, first in begins.items():
                    made = []
                    for name in ("a", "b"):
                        file = pathlib.Path(folder) / f"{name}.{suffix}"
                        done = self.run_it(RESULTS, "-o", file, "--kind", kind, *where)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        made.append(file.read_bytes())
                        if suffix != "svg":
                            break  # one is enough where nothing is drawn by chance
                    self.assertTrue(made[0].startswith(first))
                    self.assertEqual(made[0], made[-1])

    def test_it_works_in_a_pipe_where_leading_columns_are_the_axes(self):
        done = self.run_it("-", "-o", "-", *self.WHERE, input=RESULTS.read_bytes())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(b"<?xml"))
        self.assertIn(b"1 of 30 points failed", done.stderr)

    def test_every_mistake_is_told_with_what_was_meant(self):
        done = self.run_it(RESULTS, "-o", os.devnull + ".svg", "--x", "bacth", "--series", "ordr",
                           "--where", "bandwidth_gbps=300")
        self.assertEqual(done.returncode, 1)
        for said in (b"--x bacth: no such column; did you mean batch?", b"did you mean order?",
                     b"--where bandwidth_gbps=300: no such value"):
            self.assertIn(said, done.stderr)

    def test_an_axis_that_is_not_drawn_must_be_held(self):
        done = self.run_it(RESULTS, "-o", "-", "--where", "order=as_it_is")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"choose one with --where bandwidth_gbps=100|200|400", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_files_that_are_none_are_told(self):
        for text in (b"", b"a,b\n1,2\n", b"batch,point,status\n1,x,ok\n"):
            done = self.run_it("-", "-o", "-", input=text)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(b"plot.py: error: -: ", done.stderr)
        self.assertEqual(self.run_it("nowhere.csv", "-o", "-").returncode, 1)
        self.assertEqual(self.run_it(RESULTS, "-o", "figure.gif").returncode, 1)


if __name__ == "__main__":
    unittest.main()
