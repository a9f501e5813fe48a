#include "sim/sweep/run_point.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <variant>

#include "sim/report/summary.h"
#include "sim/run/exit_code.h"
#include "sim/run/scenario_run.h"
#include "sim/sweep/interrupt.h"

namespace weft {
namespace {

PointOutcome failed(std::string error, int code) {
  for (char& letter : error) {
    if (letter == '\n') letter = ' ';
  }
  return {.ok = false, .error = std::move(error), .exit_code = code, .summary = ""};
}

PointOutcome simulate_point(const Loaded& loaded, const std::string& command, MemoryGate& gate) {
  if (!loaded.scenario) return failed(one_line(loaded.problems), exit_code::user);
  ScenarioRun run(loaded);
  if (!run.ready()) return failed(one_line(run.problems()), exit_code::user);
  const Diagnostics problems = run.check(loaded.scenario->name);
  if (problems.has_errors()) return failed(one_line(problems), exit_code::user);
  const MemoryGate::Pass pass(gate, run.memory());
  const auto outcome = run.run(command, [](Mode) -> OnProgress {
    return [](const Progress&) {
      if (must_stop_now()) throw Interrupted{};
    };
  });
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
    return failed(failure->why, failure->exit_code);
  }
  const auto summary = nlohmann::ordered_json::parse(summary_json(std::get<RunReport>(outcome)));
  return {.ok = true, .error = "", .exit_code = exit_code::ok, .summary = summary.dump()};
}

// A file without a name, gone when it is closed.
class Scratch {
 public:
  Scratch() : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("cannot make a temporary file");
  }
  ~Scratch() { std::fclose(file_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] int descriptor() const { return fileno(file_); }
  void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
  }
  std::string text() {
    std::rewind(file_);
    std::string text;
    for (int letter = 0; (letter = std::fgetc(file_)) != EOF;) text += static_cast<char>(letter);
    return text;
  }

 private:
  std::FILE* file_;
};

// In the other process. Leaves nothing behind but its two files.
[[noreturn]] void be_the_child(const Loaded& loaded, const std::string& command, Scratch& result,
                               const Scratch& messages) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(messages.descriptor(), STDERR_FILENO);
  try {
    MemoryGate alone(Bytes{});
    const Row row{.row = 0,
                  .point = "",
                  .version = "",
                  .cells = {},
                  .command = "",
                  .outcome = run_point(loaded, command, alone)};
    result.write(line_of(row, {}));
  } catch (const Interrupted&) {
    _exit(exit_code::interrupted);
  }
  _exit(exit_code::ok);
}

}  // namespace

PointOutcome run_point(const Loaded& loaded, const std::string& command, MemoryGate& gate) {
  try {
    return simulate_point(loaded, command, gate);
  } catch (const std::bad_alloc&) {
    return failed("out of memory", exit_code::machine);
  } catch (const std::exception& error) {
    return failed(error.what(), exit_code::machine);
  }
}

PointOutcome run_point_apart(const Loaded& loaded, const std::string& command) {
  Scratch result;
  Scratch messages;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) be_the_child(loaded, command, result, messages);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("a child process was lost");
  }
  if (interrupted_by_signal()) throw Interrupted{};
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return failed(fmt::format("weft crashed with signal {} ({}): {}", signal, strsignal(signal),
                              messages.text()),
                  exit_code::ours);
  }
  const std::optional<Row> row = parse_row(result.text(), {});
  if (!row) return failed("weft crashed: " + messages.text(), exit_code::ours);
  return row->outcome;
}

}  // namespace weft
