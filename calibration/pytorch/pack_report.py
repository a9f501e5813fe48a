"""Keeps of an exported report of Nsight Systems what weft reads, and packs it.

    nsys export --type sqlite --include-blobs=true OUT.nsys-rep
    python3 calibration/pytorch/pack_report.py OUT.sqlite PACKED.sqlite.gz

The rest is tables of the profiler's own, and of the machine: its environment, processes, names.
"""

import argparse
import gzip
import pathlib
import sqlite3
import tempfile

KEPT = ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMA_ENTRIES",
        "TARGET_INFO_GPU")


def strip(report):
    tables = report.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table not in KEPT:
            report.execute(f'DROP TABLE "{table}"')
    report.execute("UPDATE TARGET_INFO_GPU SET uuid = '', busLocation = ''")
    report.execute("DELETE FROM StringIds WHERE id NOT IN ("
                   "SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL UNION "
                   "SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION "
                   "SELECT textId FROM NVTX_EVENTS WHERE textId IS NOT NULL)")
    report.commit()
    report.execute("VACUUM")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("packed", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "report.sqlite"
        copy.write_bytes(given.report.read_bytes())
        report = sqlite3.connect(copy)
        strip(report)
        report.close()
        given.packed.write_bytes(gzip.compress(copy.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
