#include "sim/app/report_command_line.h"

namespace weft {
namespace {

constexpr const char* kReportExample =
    "example:\n"
    "  weft run configs/scenarios/embedding_a2a_4_gpus.yaml -o results/node\n"
    "  weft report results/node\n"
    "\n"
    "example: what half the bandwidth costs, side by side\n"
    "  weft run configs/scenarios/embedding_a2a_4_gpus.yaml -o results/half \\\n"
    "    --set 'cluster.scale_up.link.bandwidth=18.75 GB/s'\n"
    "  weft report results/node results/half -o results/compared.html\n"
    "\n"
    "One file that a browser opens without a network. Of several runs it has times and measures\n"
    "side by side, differences from the first in per cent, and the keys that differ.\n"
    "exit status: 0 done; 1 a file in a folder is missing or broken, or a folder of several is "
    "not\n"
    "a run's; 2 the system failed (cannot write or allocate)\n";

}  // namespace

CLI::App* add_report(CLI::App& app, ReportCommand& command) {
  CLI::App* report =
      app.add_subcommand("report",
                         "Draw the results of a run or a sweep, or runs side by side, as one "
                         "HTML file.");
  report->footer(kReportExample);
  report
      ->add_option("DIR", command.folders,
                   "Folder written by weft run -o or by a sweep; several runs are compared")
      ->type_name("DIR")
      ->required();
  report
      ->add_option("-o,--output", command.output,
                   "Output file; default: DIR/report.html; of several: compared.html")
      ->type_name("FILE");
  return report;
}

}  // namespace weft
