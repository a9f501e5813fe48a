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
            self.assertEqual(plot.is_geometric(places), geometric, places)

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
