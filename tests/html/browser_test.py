#!/usr/bin/python3
"""Reports in headless Chromium: what is drawn, what the reader may choose, tables and CSV.

    tests/html/browser_test.py WEFT [--screenshots DIR]

Wants chromium, chromium-driver and python3-selenium (scripts/setup --full); says so and ends with 0
where they are not. Expectations are the files of tests/html/, read here once more.
"""

import argparse
import base64
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
OPTIONS = None


def browser(downloads):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to be root within one
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def rows_of(path):
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft_report_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.driver = browser(cls.folder)
        cls.addClassCleanup(cls.driver.quit)
        for name in ("run", "model", "sweep"):
            subprocess.run([OPTIONS.weft, "report", HERE / name, "-o", cls.folder / f"{name}.html"],
                           check=True, stderr=subprocess.DEVNULL)
        subprocess.run([OPTIONS.weft, "report", HERE / "run", HERE / "model", "-o",
                        cls.folder / "compared.html"], check=True, stderr=subprocess.DEVNULL)

    def tearDown(self):
        self.assertEqual(self.driver.get_log("browser"), [])  # neither errors nor warnings

    # --- what a test asks of a page ---

    def open(self, name, width=1100, height=900, scheme="light"):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get((self.folder / f"{name}.html").as_uri())
        self.drawn()

    def drawn(self):
        """Waits until every chart is there."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "Promise.all(charts.map((chart) => chart.drawn)).then(() => done())")

    def find(self, selector):
        from selenium.webdriver.common.by import By
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def marks(self, chart, name):
        return len(self.find(f"#{chart} svg .{name} path, #{chart} svg .{name} text"))

    def labels(self, chart):
        return [one.text for one in self.find(f"#{chart} svg .labels text")]

    def choose(self, select, text):
        from selenium.webdriver.support.ui import Select
        Select(self.find(f"#{select}")[0]).select_by_visible_text(text)
        self.drawn()

    def csv(self, chart):
        text = self.driver.execute_script(
            "return charts.find((one) => one.chart.id === arguments[0]).csv()", chart)
        return list(csv.DictReader(io.StringIO(text)))

    def table(self, chart):
        return self.driver.execute_script("""
            const rows = document.querySelectorAll(`#${arguments[0]} .table tr`);
            return [...rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        """, chart)

    def assert_same_numbers(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assertEqual(float(one), float(other))

    def screenshot(self, name):
        if OPTIONS.screenshots is None:
            return
        size = self.driver.execute_script("const page = document.documentElement;"
                                          "return [page.clientWidth, page.scrollHeight]")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}})
        (OPTIONS.screenshots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    # --- a run ---

    def test_a_run_draws_a_bar_a_mode_with_what_it_gains(self):
        self.open("run")
        self.screenshot("run_light")
        self.assertEqual(self.marks("time", "bars"), 3)
        self.assertEqual(self.labels("time"), ["2.874 ms", "2.683 ms, 1.07x", "2.520 ms, 1.14x"])
        summary = json.loads((HERE / "run/summary.json").read_text())
        self.assert_same_numbers([row["time_us"] for row in self.csv("time")],
                                 [mode["time_us"] for mode in summary["modes"].values()])

    def test_the_parts_of_the_time_add_up_to_it(self):
        self.open("run")
        self.assertEqual(self.marks("phases", "bars"), 9)
        summary = json.loads((HERE / "run/summary.json").read_text())
        rows = self.csv("phases")
        for name, mode in summary["modes"].items():
            of_mode = [float(row["us"]) for row in rows if row["mode"] == name]
            self.assertAlmostEqual(sum(of_mode), mode["time_us"], places=3)
            self.assertEqual(of_mode[1], mode["exposed_comm_us"])

    def test_links_are_summed_up_by_class(self):
        self.open("run")
        self.assertEqual(self.marks("links", "bars"), 3)
        links = [row for row in rows_of(HERE / "run/links.csv") if row["mode"] == "fused"]
        most = max(float(row["utilisation"]) for row in links)
        self.assertEqual(float(self.csv("links")[2]["utilisation_max"]), most)
        self.choose("links-value", "bytes carried")
        self.assertEqual(float(self.csv("links")[2]["bytes"]),
                         sum(float(row["bytes"]) for row in links))

    def test_time_series_are_drawn_and_the_reader_chooses_which(self):
        self.open("run")
        self.assertEqual(self.marks("over_time", "lines"), 3)
        self.choose("over_time-value", "links busy")
        rows = rows_of(HERE / "run/over_time.csv")
        self.assert_same_numbers([row["links_busy"] for row in self.csv("over_time")],
                                 [row["links_busy"] for row in rows])

    def test_the_critical_path_is_of_the_chosen_mode_and_adds_up(self):
        self.open("run")
        summary = json.loads((HERE / "run/summary.json").read_text())
        for mode, bars in (("bulk", 3), ("kernel", 6), ("fused", 2)):
            self.choose("critical-at-mode", mode)
            rows = self.csv("critical")
            self.assertEqual({row["mode"] for row in rows}, {mode})
            self.assertEqual(self.marks("critical", "bars"), bars)
            self.assertAlmostEqual(sum(float(row["critical_us"]) for row in rows),
                                   summary["modes"][mode]["time_us"], places=3)

    def test_a_table_and_the_downloaded_file_hold_what_is_drawn(self):
        self.open("run")
        for chart in ("time", "phases", "links", "over_time", "critical"):
            rows = self.csv(chart)
            self.assertEqual(self.table(chart),
                             [list(rows[0])] + [list(row.values()) for row in rows])
            self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {
                "behavior": "allow", "downloadPath": str(self.folder)})
            self.find(f"#{chart} .download")[0].click()
            file = self.folder / f"{chart}.csv"
            self.wait_for(lambda: file.exists() and rows_of(file) == rows)

    def wait_for(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(self.driver, 10, poll_frequency=0.05).until(lambda _: condition())

    # --- runs side by side ---

    def test_runs_are_drawn_side_by_side_with_their_differences(self):
        self.open("compared")
        self.screenshot("compared_light")
        self.assertEqual(self.marks("time", "bars"), 6)
        self.assertEqual(self.labels("time"),
                         ["2.874 ms", "11.497 ms, +300.0 %", "2.683 ms", "11.497 ms, +328.5 %",
                          "2.520 ms", "9.972 ms, +295.6 %"])
        self.assertEqual(self.marks("phases", "bars"), 18)
        self.choose("time-value", "CUs busy")
        both = [json.loads((HERE / name / "summary.json").read_text())["modes"]
                for name in ("run", "model")]
        self.assert_same_numbers([row["cu_busy"] for row in self.csv("time")],
                                 [modes[mode]["cu_busy"] for mode in both[0] for modes in both])
        measures = self.table("measures")
        self.assertEqual(measures[0], ["mode", "measure", "run", "model", "difference"])
        self.assertEqual(measures[1], ["bulk", "time", "2.874 ms", "11.497 ms", "+300.0 %"])
        self.assertEqual(len(self.find("nav a")), 4)
        self.assertIn("Unknown", self.find("#keys .absent")[0].text)

    # --- a model's run ---

    def test_a_model_has_its_parts_and_what_can_be_fused(self):
        self.open("model", scheme="dark")
        self.screenshot("model_dark")
        parts = rows_of(HERE / "model/parts.csv")
        self.assertEqual(self.marks("parts", "bars"), len(parts))
        self.assert_same_numbers([row["exposed_us"] for row in self.csv("parts")],
                                 [row["exposed_us"] for row in parts])
        pairs = [row for row in rows_of(HERE / "model/fusions.csv") if not row["obstacle"]]
        self.assertEqual(self.marks("fusions", "bars"), 3 * len(pairs))

    # --- a sweep ---

    def points(self):
        return [row for row in rows_of(HERE / "sweep/results.csv") if row["status"] == "ok"]

    def test_a_sweep_compares_bulk_and_fused_along_the_chosen_axis(self):
        self.open("sweep")
        self.screenshot("sweep_light")
        self.assertEqual(self.marks("time", "bars"), 2 * 5)  # batches
        self.choose("time-category", "bandwidth")
        self.choose("time-at-order", "as_it_is")
        self.choose("time-at-batch", "8,192")
        self.assertEqual(self.marks("time", "bars"), 2 * 2)  # the third point failed
        points = [row for row in self.points()
                  if row["batch"] == "8192" and row["order"] == "as_it_is"]
        fused = [row for row in self.csv("time") if row["mode"] == "fused"]
        self.assert_same_numbers([row["time_us"] for row in fused],
                                 [row["fused_time_us"] for row in points])

    def test_a_map_has_a_cell_a_point_and_its_axes_can_be_swapped(self):
        self.open("sweep")
        self.assertEqual(self.marks("map", "cells"), 5 * 3)
        self.choose("map-x", "bandwidth")
        ticks = [one.text for one in self.find("#map svg .role-axis-label text")]
        self.assertEqual(ticks[:3], ["100 Gb/s", "200 Gb/s", "400 Gb/s"])
        self.assertEqual(self.marks("map", "cells"), 5 * 3)
        speedups = [row["fused_vs_bulk_speedup"] for row in self.points()
                    if row["order"] == "remote_first"]
        self.assert_same_numbers([row["speedup_vs_bulk"] for row in self.csv("map")], speedups)

    def test_lines_go_along_the_chosen_axis_and_of_the_chosen_kind(self):
        self.open("sweep")
        self.assertEqual(self.marks("lines", "lines"), 2)
        self.choose("lines-series", "order")
        self.choose("lines-value", "speed-up over bulk")
        self.assertEqual((self.marks("lines", "lines"), self.marks("lines", "points")), (2, 10))
        self.choose("lines-x", "order")  # the two change places
        self.assertEqual((self.marks("lines", "lines"), self.marks("lines", "points")), (5, 10))
        for spacing in ("linear", "logarithmic", "even"):
            self.choose("lines-x", "bandwidth")
            self.choose("lines-scale", spacing)
            self.assertGreater(self.marks("lines", "points"), 0)

    def test_exposed_communication_is_told_apart_at_every_point(self):
        self.open("sweep")
        self.assertEqual(self.marks("phases", "bars"), 5 * 2 * 3)
        points = [row for row in self.points()
                  if row["bandwidth_gbps"] == "100" and row["order"] == "remote_first"]
        exposed = [row for row in self.csv("phases")
                   if row["phase"] == "exposed communication" and row["mode"] == "fused"]
        self.assert_same_numbers([row["us"] for row in exposed],
                                 [row["fused_exposed_comm_us"] for row in points])

    def test_failed_points_are_named_with_their_reason(self):
        self.open("sweep")
        text = self.driver.execute_script("return document.body.textContent")
        self.assertIn("batch 8192, bandwidth_gbps 400, order as_it_is: needs 3.1 GB, "
                      "\"more\" than there is, so it was not run", text)

    def test_axes_that_change_together_are_held_as_one(self):
        folder = self.folder / "zipped"
        folder.mkdir()
        axes = [{"key": name, "column": name} for name in ("link_gbps", "nic_gbps", "batch")]
        (folder / "sweep.json").write_text(json.dumps(
            {"name": "zipped", "scenario": "none", "version": "0", "axes": axes, "points": 4}))
        (folder / "results.csv").write_text(
            "link_gbps,nic_gbps,batch,point,status,error,bulk_time_us,fused_time_us\n"
            "100,50,1,a,ok,,8,7\n100,50,2,b,ok,,9,8\n200,99,1,c,ok,,4,3\n200,99,2,d,ok,,5,4\n")
        subprocess.run([OPTIONS.weft, "report", folder, "-o", self.folder / "zipped.html"],
                       check=True, stderr=subprocess.DEVNULL)
        self.open("zipped")
        self.assertEqual(self.marks("lines", "points"), 4)  # two links, two modes, of batch 1
        self.assertEqual([len(self.find(f"#lines-at-{name}")) for name in ("nic_gbps", "batch")],
                         [0, 1])
        self.choose("lines-x", "batch")
        self.assertEqual(len(self.find("#lines-at-link_gbps")), 1)
        self.assertEqual(self.find("#lines-at-nic_gbps"), [])
        self.choose("lines-at-link_gbps", "200 Gb/s")
        self.assertEqual([row["time_us"] for row in self.csv("lines")], ["4", "3", "5", "4"])

    # --- the page itself ---

    def test_nothing_is_asked_for_over_the_network(self):
        self.driver.get_log("performance")
        self.open("run")
        asked = [json.loads(entry["message"])["message"]
                 for entry in self.driver.get_log("performance")]
        urls = [message["params"]["request"]["url"] for message in asked
                if message["method"] == "Network.requestWillBeSent"]
        self.assertEqual([url for url in urls if not url.startswith(("file:", "data:"))], [])

    def test_colours_follow_the_system_and_the_reader(self):
        paper = "return getComputedStyle(document.body).backgroundColor"
        self.open("run", scheme="light")
        light = self.driver.execute_script(paper)
        self.open("run", scheme="dark")
        dark = self.driver.execute_script(paper)
        self.assertNotEqual(light, dark)
        ink = "return document.querySelector('#time svg .labels text').getAttribute('fill')"
        on_dark = self.driver.execute_script(ink)
        self.choose("theme", "light")
        self.assertEqual(self.driver.execute_script(paper), light)
        self.assertNotEqual(self.driver.execute_script(ink), on_dark)

    def test_a_phone_scrolls_down_only(self):
        for name in ("run", "model", "sweep", "compared"):
            self.open(name, width=360, height=740)
            self.screenshot(f"{name}_phone")
            self.assertLessEqual(self.driver.execute_script(
                "return document.documentElement.scrollWidth"), 360, name)

    def test_the_keyboard_reaches_everything(self):
        from selenium.webdriver import ActionChains, Keys
        self.open("sweep")
        reached = []
        for _ in range(60):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            reached.append(self.driver.execute_script(
                "const at = document.activeElement; return at.id || at.className || at.tagName"))
        self.assertEqual(reached[0], "skip")
        for one in ("theme", "time-category", "map-x", "lines-series", "download", "SUMMARY"):
            self.assertIn(one, reached)
        self.choose("map-x", "order")  # a choice keeps the focus where it was
        self.assertEqual(self.driver.execute_script("return document.activeElement.id"), "map-x")

    def test_every_chart_and_control_says_what_it_is(self):
        self.open("sweep")
        for chart in self.find(".chart"):
            self.assertIn("values, also in the table below", chart.get_attribute("aria-label"))
            self.assertEqual(chart.get_attribute("role"), "graphics-document")
        for select in self.find("select"):
            self.assertEqual(len(self.find(f"label[for='{select.get_attribute('id')}']")), 1)
        for table in self.find(".table"):
            self.assertTrue(table.get_attribute("aria-label"))

    def test_text_of_files_is_only_ever_text(self):
        evil = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>\"'&"
        folder = self.folder / "evil"
        shutil.copytree(HERE / "run", folder)
        summary = json.loads((folder / "summary.json").read_text())
        summary["scenario"] = summary["why"] = evil
        summary["modes"][evil] = summary["modes"].pop("fused")
        (folder / "summary.json").write_text(json.dumps(summary))
        operators = (folder / "operators.csv").read_text()
        quoted = '"' + evil.replace('"', '""') + '"'
        (folder / "operators.csv").write_text(
            operators.replace("fused_embedding_all_to_all", quoted)
            .replace("\nfused", "\n" + quoted))
        subprocess.run([OPTIONS.weft, "report", folder, "-o", self.folder / "evil.html"],
                       check=True, stderr=subprocess.DEVNULL)
        self.open("evil")
        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.find("h1")[0].text, evil)
        self.assertEqual(self.csv("time")[2]["mode"], evil)
        self.assertEqual(self.find("img"), [])


def missing():
    lacks = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        lacks.append("python3-selenium")
    return lacks


def given(doc):
    """What the command line says, and what is for unittest; None: what is wanted is not there."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=pathlib.Path, help="the program")
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="DIR",
                        help="write pictures of the pages there")
    options, rest = parser.parse_known_args()
    if missing():
        print(f"skipped: no {', '.join(missing())} here")
        return None, rest
    options.weft = options.weft.resolve()
    if options.screenshots is not None:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    return options, rest


def main():
    global OPTIONS
    OPTIONS, rest = given(__doc__)
    return 0 if OPTIONS is None else unittest.main(argv=[sys.argv[0], *rest], verbosity=1)


if __name__ == "__main__":
    sys.exit(main())
