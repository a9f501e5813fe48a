#include "sim/app/measured_command_line.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace weft {
namespace {

constexpr const char* kCalibrateExample =
    "example:\n"
    "  weft calibrate calibration/measurements/h200-x2.jsonl --base configs/gpus/h200.yaml \\\n"
    "    -o results/h200.yaml --cluster configs/clusters/node_4x_h200.yaml \\\n"
    "    --cluster-output results/node.yaml\n"
    "\n"
    "For each fitted number the lines it comes from and their deviation are printed. Numbers that\n"
    "no line determines are listed.\n";

constexpr const char* kValidateExample =
    "example:\n"
    "  weft validate calibration/measurements/h200-x4-reference.jsonl \\\n"
    "    --cluster configs/clusters/node_4x_h200.yaml --max-median 8\n"
    "\n"
    "A scatter plot of the --csv file: scripts/plot_validation FILE.csv -o FILE.svg\n"
    "A line is a kernel of --kernels (calibration/README.md), a collective of the library, or one\n"
    "of its GEMMs or attention kernels alone (sets nccl, multi, gemm, attention, or\n"
    "calibration/pytorch), or such a GEMM and a collective of all GPUs (calibration/torch).\n"
    "Kinds of lines that weft cannot simulate are listed as skipped, with their number.\n"
    "exit status: 0 done; 1 a mistake in the input, or a bound exceeded\n";

// A base is named without its ending.
std::string is_base_file(const std::string& file) {
  if (std::string_view(file).ends_with(".yaml")) return "";
  return fmt::format("{}: the name must end in .yaml, because a base is NAME.yaml", file);
}

}  // namespace

CLI::App* add_calibrate(CLI::App& app, CalibrateCommand& command) {
  CLI::App* calibrate =
      app.add_subcommand("calibrate", "Fit a GPU file's numbers to micro-benchmarks.");
  calibrate->footer(kCalibrateExample);
  calibrate->add_option("MICRO", command.measured, "File of micro-benchmark results, as JSON lines")
      ->type_name("FILE")
      ->required();
  calibrate
      ->add_option("--base", command.base,
                   "GPU file to start from; what no line determines keeps its value")
      ->type_name("FILE")
      ->required()
      ->check(CLI::ExistingFile);
  calibrate->add_option("-o,--output", command.output, "Write the fitted GPU file to this path")
      ->type_name("FILE")
      ->required()
      ->check(is_base_file);
  CLI::Option* cluster =
      calibrate->add_option("--cluster", command.cluster, "Cluster file whose links are fitted too")
          ->type_name("FILE")
          ->check(CLI::ExistingFile);
  CLI::Option* output = calibrate
                            ->add_option("--cluster-output", command.cluster_output,
                                         "Write the fitted cluster file to this path")
                            ->type_name("FILE")
                            ->check(is_base_file);
  cluster->needs(output);
  output->needs(cluster);
  return calibrate;
}

CLI::App* add_validate(CLI::App& app, ValidateCommand& command) {
  CLI::App* validate = app.add_subcommand(
      "validate", "Simulate measured cases and print how far the predictions are off.");
  validate->footer(kValidateExample);
  validate->add_option("MEASURED", command.measured, "File of measured kernel times, as JSON lines")
      ->type_name("FILE")
      ->required();
  validate
      ->add_option("--cluster", command.cluster,
                   "YAML file of the cluster they ran on; each line is simulated on as many "
                   "GPUs of a node as the line names")
      ->type_name("FILE")
      ->required();
  validate
      ->add_option("--kernels", command.kernels,
                   "Folder of the measured kernels' scenarios; default: configs/validation")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  validate
      ->add_option("--set", command.sets, "Change one value that no line says itself (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  validate->add_option("--json", command.json, "Write every case and the summaries to this file")
      ->type_name("FILE");
  validate->add_option("--csv", command.csv, "Write every case to this file")->type_name("FILE");
  validate
      ->add_option("--max-median", command.max_median,
                   "Exit with status 1 if the median error of all times exceeds this percentage")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  validate
      ->add_option("--max-p90", command.max_p90,
                   "The same for the error that 90 % of the times do not exceed")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  validate
      ->add_option("-j,--jobs", command.jobs,
                   "Number of concurrent simulations; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  add_known(*validate, command.known, "none");
  validate->add_flag("-q,--quiet", command.quiet, "Print no table");
  return validate;
}

}  // namespace weft
