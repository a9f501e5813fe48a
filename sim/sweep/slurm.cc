#include "sim/sweep/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "sim/run/replay_text.h"

namespace weft::slurm {
namespace {

struct Ended {
  int status = -1;
  std::string text;  // what it printed, on either stream
};

Ended run(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += shell_quoted(word) + ' ';
  std::FILE* pipe = popen((command + "2>&1").c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + words.front());
  Ended ended;
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    ended.text.append(buffer.data(), read);
  }
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

}  // namespace

std::string ranges_text(const std::vector<std::size_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ascending[i]);
    if (last > i) text += fmt::format("-{}", ascending[last]);
    i = last + 1;
  }
  return text;
}

void submit(const ArrayJob& job, const std::vector<std::size_t>& tasks) {
  std::vector<std::string> words{"sbatch",
                                 "--job-name=" + job.name,
                                 fmt::format("--array={}%{}", ranges_text(tasks), job.at_once),
                                 fmt::format("--cpus-per-task={}", job.cores),
                                 "--requeue",
                                 "--open-mode=append",
                                 fmt::format("--output={}/task_%a.txt", job.log.string())};
  if (!job.partition.empty()) words.push_back("--partition=" + job.partition);
  words.insert(words.end(), job.options.begin(), job.options.end());
  words.push_back(job.script.string());
  const Ended ended = run(words);
  if (ended.status != 0) throw std::runtime_error("sbatch: " + ended.text);
}

std::optional<std::map<std::size_t, std::string>> tasks_in_queue(const std::string& name) {
  const Ended ended = run({"squeue", "--noheader", "--array", "--name=" + name, "--format=%K %T"});
  if (ended.status != 0) return std::nullopt;
  std::map<std::size_t, std::string> tasks;
  std::istringstream lines(ended.text);
  std::size_t task = 0;
  for (std::string state; lines >> task >> state;) tasks[task] = state;
  return tasks;
}

}  // namespace weft::slurm
