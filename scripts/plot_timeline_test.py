#!/usr/bin/python3
"""scripts/plot_timeline.py on small timelines: what is drawn is what the events say."""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import plot_timeline  # noqa: E402


def timeline():
    """GPU 0 computes with two WGs from 0 to 10 and one to 20; its NIC sends from 15 to 30."""
    def named(pid, name):
        return {"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}}

    def slice_of(tid, start, end, category, name):
        return {"ph": "X", "pid": 2, "tid": tid, "ts": start, "dur": end - start, "cat": category,
                "name": name, "args": {}}

    def busy(at, percent):
        return {"ph": "C", "pid": 1, "ts": at, "name": "nic_send nic0 send", "args": {"%": percent}}

    return [named(1, "bulk: a cluster"), named(2, "bulk: GPU 0"),
            slice_of(1, 0, 20, "compute", "gemm"), slice_of(7, 0, 10, "wg", "gemm"),
            slice_of(8, 0, 20, "wg", "gemm"), slice_of(2, 20, 30, "collective", "all_reduce"),
            slice_of(9, 20, 30, "wg", "all_reduce"),
            {"ph": "C", "pid": 1, "ts": 0, "name": "nic_send, mean of 2", "args": {"%": 9}},
            busy(15, 100), busy(30, 0)]


class Timelines(unittest.TestCase):
    def test_wgs_of_a_collective_do_not_compute(self):
        self.assertEqual(plot_timeline.computing_wgs(timeline(), 2),
                         ([0.0, 0, 10, 20], [0, 2, 1, 0]))

    def test_a_link_is_exposed_from_when_nothing_computes(self):
        events = timeline()
        counters = plot_timeline.links_of(events, 1)
        self.assertEqual(list(counters), ["nic_send nic0 send"])
        wgs = plot_timeline.computing_wgs(events, 2)
        self.assertEqual(plot_timeline.pieces(counters["nic_send nic0 send"], wgs, 30),
                         [(15, 5, 100, False), (20, 10, 100, True)])

    def test_means_over_intervals_keep_the_area(self):
        times, values = plot_timeline.thinned(([0, 1, 3], [4, 2, 0]), 2)
        self.assertEqual(sum(values) * 2, 4 * 1 + 2 * 2)
        self.assertEqual(times[:2], (0.0, 2.0))

    def test_a_gpu_sends_by_its_own_links(self):
        links = {"nic_send nic10 send": ((0,), (9,)), "nic_send nic0 send": ((0,), (5,)),
                 "scale_up_up 10->2": ((0,), (9,)), "scale_up_up node0 0->2": ((0,), (7,))}
        self.assertEqual(plot_timeline.sends_of(0, links), "scale_up_up node0 0->2")
        with self.assertRaisesRegex(plot_timeline.Mistake, "choose one with --link"):
            plot_timeline.sends_of(3, links)

    def test_kernels_of_a_pipeline_are_told_apart_by_their_operators(self):
        def kernel(start, category, name):
            return {"ph": "X", "pid": 2, "tid": 1, "ts": start, "dur": 5, "cat": category,
                    "name": name, "args": {}}
        events = [kernel(0, "compute", "mlp_up"), kernel(5, "compute", "mlp_up_input_gradient"),
                  kernel(10, "compute", "mlp_up_weight_gradient"),
                  kernel(15, "compute", "attention_backward"), kernel(20, "compute", "optimizer"),
                  kernel(25, "collective", "send_forward"), kernel(30, "collective", "mlp_gather")]
        self.assertEqual(plot_timeline.stage_rows(events, 2),
                         {"forward": [(0, 5)], "gradients of inputs": [(5, 5), (15, 5)],
                          "gradients of weights": [(10, 5)], "optimiser": [(20, 5)],
                          "send": [(25, 5)]})
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "timeline.json")
            file.write_text(json.dumps({"traceEvents": timeline()}), encoding="utf-8")
            figure = pathlib.Path(folder, "stages.png")
            plot_timeline.main([str(file), "-o", str(figure), "--stages", "0"])
            self.assertGreater(figure.stat().st_size, 1000)

    def test_a_timeline_without_wgs_is_refused(self):
        events = [event for event in timeline() if event.get("cat") != "wg"]
        with self.assertRaisesRegex(plot_timeline.Mistake, "--trace-detail all"):
            plot_timeline.computing_wgs(events, 2)

    def test_what_is_no_timeline_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "list.json")
            file.write_text(json.dumps([1]), encoding="utf-8")
            with self.assertRaisesRegex(plot_timeline.Mistake, "not a timeline"):
                plot_timeline.read(str(file))

    def test_the_same_timeline_gives_the_same_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "timeline.json")
            file.write_text(json.dumps({"traceEvents": timeline()}), encoding="utf-8")
            figures = []
            for name in ("one.svg", "other.svg"):
                plot_timeline.main([str(file), "-o", str(pathlib.Path(folder, name))])
                figures.append(pathlib.Path(folder, name).read_bytes())
            self.assertEqual(*figures)


if __name__ == "__main__":
    unittest.main()
