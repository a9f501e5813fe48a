#!/usr/bin/python3
"""`weft serve` in headless Chromium: by keyboard alone, on a phone's width, with pictures.

    tests/html/serve_test.py WEFT [--screenshots DIR]

Wants what browser_test.py wants; says so and ends with 0 where that is not there.
"""

import base64
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import browser_test

HERE = pathlib.Path(__file__).parent
CONFIGS = HERE.parent.parent / "configs"
OPTIONS = None
SMALL = ("workload.batch=64", "workload.tables_per_gpu=2")


def run(scenario, output, *more):
    sets = [word for one in SMALL for word in ("--set", one)]
    subprocess.run([OPTIONS.weft, "run", CONFIGS / "scenarios" / f"{scenario}.yaml", "-q", *sets,
                    "-o", output, *more], check=True)


class Serve(unittest.TestCase):
    def setUp(self):
        from selenium.webdriver.common.keys import Keys
        self.keys = Keys
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft_serve_"))
        self.addCleanup(shutil.rmtree, self.folder)
        run("embedding_a2a_4_gpus", self.folder / "node", "--trace",
            self.folder / "node/timeline.json.gz", "--trace-detail", "all")
        run("embedding_a2a_2_nodes", self.folder / "two")
        self.served = subprocess.Popen([OPTIONS.weft, "serve", self.folder], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        self.address = self.served.stdout.readline().strip()
        self.driver = browser_test.browser(self.folder)
        self.addCleanup(self.driver.quit)

    def end(self):
        self.served.send_signal(signal.SIGINT)
        self.assertEqual(self.served.wait(20), 0)
        self.served.stdout.close()

    def tearDown(self):
        self.assertEqual(self.driver.get_log("browser"), [])  # no errors, nothing refused

    # --- what a test asks of the page ---

    def open(self, width=1200, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.get(self.address)
        self.until(lambda: self.find("#results input") and self.find("#source option"))

    def find(self, selector):
        from selenium.webdriver.common.by import By
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector)[0].text

    def until(self, true, seconds=30):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds).until(lambda _: true())

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def focused(self):
        return self.driver.execute_script(
            "const one = document.activeElement; return one.id || one.getAttribute('aria-label') "
            "|| one.textContent.trim()")

    def tab_to(self, wanted, most=80):
        """By the Tab key alone; what has the focus must show it."""
        for _ in range(most):
            if self.focused() == wanted:
                outline = self.driver.execute_script(
                    "return getComputedStyle(document.activeElement).outlineStyle")
                self.assertNotEqual(outline, "none", wanted)
                return
            self.press(self.keys.TAB)
        self.fail(f"Tab does not reach {wanted}; it is at {self.focused()}")

    def from_the_top(self):
        self.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")

    def report_has(self, words):
        """The report lies in a frame that the page itself cannot look into."""
        frame = self.until(lambda: self.find("iframe"))[0]
        self.driver.switch_to.frame(frame)
        self.until(lambda: self.find("h1") and words in self.find("body")[0].text)
        self.until(lambda: self.find("section svg"))
        self.driver.switch_to.default_content()

    def fits(self):
        wide = self.driver.execute_script("""
            const width = document.documentElement.clientWidth;
            const over = [...document.querySelectorAll("body *")].filter((one) =>
                one.getClientRects().length > 0 && !one.closest(".scroll, .skip") &&
                one.getBoundingClientRect().right > width + 1);
            return [document.documentElement.scrollWidth - width,
                    over.map((one) => one.outerHTML.slice(0, 80))]""")
        self.assertEqual(wide, [0, []])

    def screenshot(self, name):
        if OPTIONS.screenshots is None:
            return
        size = self.driver.execute_script("const page = document.documentElement;"
                                          "return [page.clientWidth, page.scrollHeight]")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}})
        (OPTIONS.screenshots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def change_and_run(self, value):
        """A knob found, changed and run, by the keyboard."""
        self.tab_to("search")
        self.press("workload.pooling")
        self.until(lambda: self.find("#found button"))
        self.press(self.keys.TAB, self.keys.ENTER)
        self.assertEqual(self.focused(), "knob-workload-pooling")
        self.press(value)  # in place of the old one, which is selected
        self.tab_to("run")
        self.press(self.keys.ENTER)

    # --- tests ---

    def test_change_run_and_compare_by_keyboard_on_a_phone(self):
        self.open(360, 740)
        self.fits()
        self.tab_to("result-0")
        self.press(self.keys.SPACE)
        self.report_has("embedding + all-to-all, 4 GPUs")
        self.from_the_top()
        self.change_and_run("20")
        self.until(lambda: self.text("#status").startswith("Done: node-1, compared with node."))
        self.assertEqual(self.focused(), "view")
        self.assertEqual(self.text("#view-title"), "Side by side: node, node-1")
        self.report_has("workload.pooling")
        self.fits()
        self.screenshot("phone_compared")
        summary = json.loads((self.folder / "node-1/summary.json").read_text())
        run("embedding_a2a_4_gpus", self.folder / "same", "--set", "workload.pooling=20")
        same = json.loads((self.folder / "same/summary.json").read_text())
        self.assertEqual(summary["modes"]["fused"]["time_us"], same["modes"]["fused"]["time_us"])

    def test_mistakes_are_beside_their_knob(self):
        self.open()
        self.change_and_run("many")
        self.until(lambda: self.find("#changed [aria-invalid]"))
        self.assertEqual(self.focused(), "knob-workload-pooling")
        self.assertEqual(
            self.text("#knob-workload-pooling-wrong"),
            "--set workload.pooling=many: error: workload.pooling: 'many' does not start with a "
            "number")
        self.screenshot("mistake")
        self.press(*[self.keys.BACKSPACE] * len("many"))
        self.tab_to("run")
        self.press(self.keys.ENTER)
        self.until(lambda: "Empty" in self.text("#knob-workload-pooling-wrong"))
        self.find("[aria-label='Reset workload.pooling']")[0].click()
        self.assertEqual(self.find("#changed li"), [])

    def open_view(self, result, view):
        self.find("#results input")[result].click()
        self.until(lambda: self.find("#tab-report")[0].is_displayed())
        self.from_the_top()
        self.tab_to("tab-report")
        for _ in range({"cluster": 1, "schedule": 2}[view]):
            self.press(self.keys.ARROW_RIGHT)
        self.assertEqual(self.focused(), f"tab-{view}")

    def widths(self):
        return self.driver.execute_script(
            "return [...document.querySelectorAll('svg.cluster path')]"
            ".map((one) => Number(one.getAttribute('stroke-width')))")

    def test_links_change_with_the_moment(self):
        self.open()
        self.open_view(0, "cluster")
        self.until(lambda: self.find("svg.cluster path"))
        self.assertEqual(len(self.widths()), 12)
        self.assertIn("each link at the moment", self.text("#cluster-said"))
        self.assertEqual(self.find("#panel-cluster .buttons"), [])
        whole = self.widths()
        self.tab_to("moment")
        self.press(self.keys.END, self.keys.ARROW_LEFT, self.keys.ARROW_LEFT)
        self.assertIn("CU busy", self.find("#moment")[0].get_attribute("aria-valuetext"))
        self.assertNotEqual(self.widths(), whole)
        self.screenshot("cluster")
        self.open(360, 740)
        self.open_view(0, "cluster")
        self.until(lambda: self.find("svg.cluster path"))
        self.fits()
        self.screenshot("phone_cluster")

    def test_lanes_of_a_gpu_are_zoomed_by_keys(self):
        from selenium.webdriver.support.ui import Select
        self.open()
        self.open_view(0, "schedule")
        self.until(lambda: self.find("canvas"))
        shown = self.find("#panel-schedule select")[1]
        Select(shown).select_by_visible_text("WGs of GPU 1")
        before = self.text("#lanes-said")
        self.from_the_top()
        self.tab_to("Lanes of time: WGs of GPU 1")
        self.press("+", self.keys.ARROW_RIGHT)
        self.assertNotEqual(self.text("#lanes-said"), before)
        self.screenshot("lanes")
        self.press(self.keys.HOME)
        self.assertEqual(self.text("#lanes-said"), before)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True})
        self.fits()
        self.screenshot("phone_lanes")

    def test_a_result_without_timeline_is_run_again_with_one(self):
        self.open()
        self.open_view(1, "schedule")
        button = self.until(lambda: self.find("#panel-schedule button"))[1]
        self.assertEqual(button.text, "Run again, with kernels and WGs")
        button.click()
        self.until(lambda: self.text("#status").startswith("Done: two-1"))
        self.assertEqual(self.text("#view-title"), "two-1")
        self.until(lambda: self.find("canvas"))


def main():
    global OPTIONS
    OPTIONS, rest = browser_test.given(__doc__)
    return 0 if OPTIONS is None else unittest.main(argv=[sys.argv[0], *rest], verbosity=1)


if __name__ == "__main__":
    sys.exit(main())
