#include "options.h"

#include <stdexcept>

namespace calibration {

const char* const usage =
    R"(Measures what weft's models of a node need, on the GPUs of this node, one JSON object a line.

  calibrate [options]

  -o FILE        write there and not to standard output
  --only TEXT    only lines whose text (see --list) contains TEXT; more than once: any of them
  --quick        a few sizes of everything
  --tiny         tiny sizes: tests the harness and measures nothing of use
  --list         show what would run, and measure nothing
  --gpus N       use N GPUs (default: all)
  --repeats N    timed runs of each case (default: 11)
  --warm-up N    runs before them that are not timed, at least 1 (default: 3)
  --patience S   end, with a message, when nothing happens for S seconds (default: 60)
  --units N      with --list and --gpus: as for GPUs of N SMs or CUs, needs no GPU
)";

namespace {

int positive(const std::string& name, const std::string& value) {
  std::size_t used = 0;
  int number = 0;
  try {
    number = std::stoi(value, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != value.size() || number < 1) {
    throw std::invalid_argument(name + " wants a number from 1 on, not '" + value + "'");
  }
  return number;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) {
        throw std::invalid_argument(name + " wants a value");
      }
      return arguments[++i];
    };
    if (name == "-o") {
      options.output = value();
    } else if (name == "--only") {
      options.only.push_back(value());
    } else if (name == "--gpus") {
      options.gpus = positive(name, value());
    } else if (name == "--units") {
      options.units = positive(name, value());
    } else if (name == "--repeats") {
      options.repeats.measured = positive(name, value());
    } else if (name == "--warm-up") {
      options.repeats.warm_up = positive(name, value());
    } else if (name == "--patience") {
      options.patience_seconds = positive(name, value());
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--quick") {
      options.quick = true;
    } else if (name == "--tiny") {
      options.tiny = true;
    } else if (name == "--help" || name == "-h") {
      options.help = true;
    } else {
      throw std::invalid_argument("unknown option '" + name + "'; --help shows all");
    }
  }
  if (options.units != 0 && (!options.list || options.gpus == 0)) {
    throw std::invalid_argument("--units goes with --list and --gpus only");
  }
  return options;
}

bool is_wanted(const Options& options, const std::string& text) {
  if (options.only.empty()) {
    return true;
  }
  for (const std::string& pattern : options.only) {
    if (text.find(pattern) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace calibration
