#!/usr/bin/env python3
"""Times of GEMMs one after another, after a pause: what the power limit leaves, by both.

    python3 calibration/pytorch/bursts.py -o OUT.jsonl       # one GPU, half a minute

After each pause, in which the GPU spins in one thread (`pause_us`), `count` products of random bf16
numbers run (`m`, `n`, `k`), RUNS times over. `us` is the median of all runs but the first WARM_UP,
`us_each` that of every product in its place.
"""
import argparse
import json
import statistics

import torch

CYCLES_PER_US = 2000  # of torch.cuda._sleep, as calibration/torch/together.py counts them
PAUSES_US = (200, 500, 1000, 2000, 5000, 20000)
COUNTS = (1, 2, 4, 8, 16, 32)
WARM_UP, RUNS = 4, 10


def burst(multiply, count, pause_us):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    torch.cuda._sleep(int(pause_us * CYCLES_PER_US))
    events[0].record()
    for event in events[1:]:
        multiply()
        event.record()
    torch.cuda.synchronize()
    return [1000 * a.elapsed_time(b) for a, b in zip(events, events[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", required=True, help="the file of lines")
    out = open(parser.parse_args().out, "w")
    write = lambda line: print(json.dumps(line, separators=(",", ":")), file=out, flush=True)
    write({"kind": "meta", "device": torch.cuda.get_device_name(), "torch": torch.__version__,
           "method": "calibration/pytorch/bursts.py"})
    for m, n, k in ((8192, 8192, 8192), (4096, 4096, 4096)):
        a, b = (torch.randn(*size, device="cuda", dtype=torch.bfloat16)
                for size in ((m, k), (k, n)))
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        for pause_us in PAUSES_US:
            for count in COUNTS:
                runs = [burst(lambda: torch.mm(a, b, out=c), count, pause_us)
                        for _ in range(WARM_UP + RUNS)][WARM_UP:]
                each = [round(statistics.median(run[i] for run in runs), 1) for i in range(count)]
                write({"kind": "burst", "m": m, "n": n, "k": k, "pause_us": pause_us,
                       "count": count, "us": round(statistics.median(map(sum, runs)), 1),
                       "us_each": each})


if __name__ == "__main__":
    main()
