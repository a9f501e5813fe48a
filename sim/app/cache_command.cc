#include "sim/app/cache_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "sim/app/cache_files.h"
#include "sim/app/colors.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/files/staged.h"
#include "sim/report/cache_runs.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/load_cache.h"
#include "sim/scenario/wrong_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// What is asked for, checked.
struct Study {
  cache::Hierarchy machine;
  std::vector<cache::Application> applications;
  std::vector<cache::NamedPolicy> policies;
  std::vector<fs::path> files;  // that it was read from
};

void add_problem(Diagnostics& problems, const std::string& where, std::string message) {
  problems.add(
      {.at = {.file = where}, .path = "", .message = std::move(message), .source_line = ""});
}

std::vector<cache::NamedPolicy> policies_of(const std::vector<std::string>& words,
                                            Diagnostics& problems) {
  std::vector<cache::NamedPolicy> policies;
  for (const cache::NamedPolicy& policy : cache::kPolicies) {
    const auto times = std::count(words.begin(), words.end(), policy.name);
    if (times > 1) add_problem(problems, fmt::format("--policy {}", policy.name), "given twice");
    if (times > 0 || words.empty()) policies.push_back(policy);
  }
  return policies;
}

// Reports know an application by its name alone.
std::vector<cache::Application> applications_of(std::vector<std::string> words,
                                                std::vector<fs::path>& files,
                                                Diagnostics& problems) {
  if (words.empty()) words = cache_names("applications");
  std::vector<cache::Application> applications;
  std::map<std::string, std::string> words_by_name;
  for (const std::string& word : words) {
    const fs::path file = cache_file(word, "applications", problems);
    if (file.empty()) continue;
    files.push_back(file);
    LoadedCache<cache::Application> loaded = load_cache_application(file);
    problems.append(or_its_command(loaded.problems, file, FileKind::cache_application));
    if (!loaded.value) continue;
    const auto [found, fresh] = words_by_name.try_emplace(loaded.value->name, word);
    if (!fresh) {
      add_problem(problems, word,
                  fmt::format("its name, {}, is also that of {}; names must differ",
                              loaded.value->name, found->second));
    }
    applications.push_back(std::move(*loaded.value));
  }
  return applications;
}

Study study_of(const CacheCommand& command, Diagnostics& problems) {
  Study study{.machine = {}, .applications = {}, .policies = {}, .files = {}};
  study.applications = applications_of(command.applications, study.files, problems);
  study.policies = policies_of(command.policies, problems);
  const fs::path file = cache_file(command.machine, "machines", problems);
  if (file.empty()) return study;
  study.files.push_back(file);
  LoadedCache<cache::Hierarchy> loaded = load_cache_machine(file);
  problems.append(loaded.problems);
  if (loaded.value) study.machine = std::move(*loaded.value);
  return study;
}

// Every application under every policy, several at a time.
std::vector<CacheRun> run_all(const Study& study, const CacheCommand& command) {
  std::vector<CacheRun> runs(study.applications.size() * study.policies.size());
  CountProgress progress("runs", CountProgress::Total::exact,
                         command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  std::mutex reporting;
  std::size_t done = 0;
  const auto run_one = [&](std::size_t i) {
    const cache::Application& application = study.applications[i / study.policies.size()];
    const cache::NamedPolicy& policy = study.policies[i % study.policies.size()];
    runs[i] = {
        .application = application.name,
        .policy = policy,
        .sample = cache::sum(cache::sample(study.machine, application, {.policy = policy.policy}))};
    const std::lock_guard lock(reporting);
    progress.update(++done, runs.size());
  };
  tbb::task_arena(jobs_or_cores(command.jobs)).execute([&] {
    tbb::parallel_for(std::size_t{0}, runs.size(), run_one, tbb::simple_partitioner());
  });
  return runs;
}

constexpr const char* kJson = "cache.json";
constexpr const char* kCsv = "cache.csv";
constexpr const char* kFiles = "cache.files.json";

bool is_cache_result(const std::string& name) { return name == kJson || name == kCsv; }

Planned planned(const CacheCommand& command, const Study& study) {
  Planned planned{.reads = study.files, .folders = {}, .writes = {}};
  if (command.output) planned.write("--output", *command.output, {kJson, kCsv, kFiles});
  if (command.json) planned.write("--json", *command.json);
  if (command.csv) planned.write("--csv", *command.csv);
  return planned;
}

void write_all(const CacheReport& report, const CacheCommand& command) {
  Staged staged;
  if (command.output) {
    staged.add(*command.output / kJson, cache_json(report));
    staged.add(*command.output / kCsv, cache_csv(report));
    staged.add_manifest(*command.output / kFiles, is_cache_result);
  }
  if (command.json) staged.add(*command.json, cache_json(report));
  if (command.csv) staged.add(*command.csv, cache_csv(report));
  staged.commit();
}

}  // namespace

int cache_command(const CacheCommand& command) {
  Diagnostics problems;
  const Study study = study_of(command, problems);
  if (problems.has_errors()) {
    print_problems(problems);
    return exit_code::user;
  }
  if (refused(planned(command, study))) return exit_code::user;
  std::vector<CacheRun> runs = run_all(study, command);
  const CacheReport report{.machine = study.machine, .runs = std::move(runs)};
  write_all(report, command);
  if (!command.quiet) print_text(cache_table(report));
  return exit_code::ok;
}

}  // namespace weft
