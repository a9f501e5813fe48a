#include "sim/app/cache_command_line.h"

#include <string>
#include <vector>

#include "sim/app/command_app.h"
#include "sim/cache/policy.h"

namespace weft {
namespace {

constexpr const char* kCacheExample =
    "example: one application under two policies; all of them under all\n"
    "  weft cache fw_pooling --machine apu_64cu --policy uncached --policy cache_rw\n"
    "  weft cache --machine configs/cache/machines/apu_64cu.yaml -o results/cache\n"
    "\n"
    "/ best static: time divided by that of the best static policy (uncached, cache_r, cache_rw) "
    "of\n"
    "those that are run. stalled: share of the slices' time in which they wait for an MSHR or a\n"
    "line. What files and columns mean: docs/cache.md\n"
    "exit status: 0 done; 1 a mistake in a file or on the command line; 2 the system failed\n"
    "(cannot write or allocate)\n";

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  names.reserve(cache::kPolicies.size());
  for (const cache::NamedPolicy& policy : cache::kPolicies) names.emplace_back(policy.name);
  return names;
}

}  // namespace

CLI::App* add_cache(CLI::App& app, CacheCommand& command) {
  CLI::App* cache =
      app.add_subcommand("cache", "Simulate what caches and DRAM do with a kernel's accesses.");
  cache->footer(kCacheExample);
  cache
      ->add_option("APPLICATION", command.applications,
                   "YAML files of kernels and their accesses, or names of files in "
                   "configs/cache/applications; default: all of these")
      ->type_name("FILE");
  cache
      ->add_option("--machine", command.machine,
                   "YAML file of the caches and the DRAM, or the name of a file in "
                   "configs/cache/machines")
      ->type_name("FILE")
      ->required();
  cache->add_option("--policy", command.policies, "Only this policy (repeatable)")
      ->type_name("POLICY")
      ->allow_extra_args(false)
      ->check(one_of(policy_names()));
  cache->add_option("-o,--output", command.output, "Write cache.json and cache.csv to this folder")
      ->type_name("DIR");
  cache->add_option("--json", command.json, "Write every run to this file")->type_name("FILE");
  cache->add_option("--csv", command.csv, "Write every run to this file")->type_name("FILE");
  cache
      ->add_option("-j,--jobs", command.jobs,
                   "Number of concurrent simulations; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  cache->add_flag("-q,--quiet", command.quiet, "Print no table");
  return cache;
}

}  // namespace weft
