#include "sim/traces/rocprof/rocprof_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/traces/recorded_device.h"

namespace weft::rocprof {
namespace {

const std::string& no_text() {
  static const std::string kNone;
  return kNone;
}

const std::string& text_in(const Json* value) {
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : no_text();
}

const Json& operations_by_kind(const Json& process) {
  static const Json kNone = Json::array();
  const Json* strings = member(process, "strings");
  return strings != nullptr ? list_in(*strings, "buffer_records") : kNone;
}

std::string name_of_symbol(const Json& symbol) {
  for (const char* key : {"demangled_kernel_name", "formatted_kernel_name", "kernel_name"}) {
    const std::string& name = text_in(member(symbol, key));
    if (!name.empty()) return name_of_descriptor(name);
  }
  return {};
}

}  // namespace

const Json& list_in(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const Json* found = member(object, key);
  return found != nullptr && found->is_array() ? *found : kNone;
}

std::int64_t handle_of(const Json& object, const char* key) {
  const Json* id = member(object, key);
  return id != nullptr ? whole_or(member(*id, "handle"), -1) : -1;
}

std::int64_t correlation_of(const Json& record) {
  const Json* id = member(record, "correlation_id");
  return id != nullptr ? whole_or(member(*id, "internal"), -1) : -1;
}

Lookup::Lookup(const Json& process, const std::string& file, TraceProblems& problems)
    : process_(process), operations_(operations_by_kind(process)) {
  read_agents(file, problems);
  read_symbols(file, problems);
  read_markers(file, problems);
}

void Lookup::read_agents(const std::string& file, TraceProblems& problems) {
  constexpr int kGpu = 2;
  std::vector<std::pair<std::int64_t, const Json*>> gpus;  // by node
  for (const Json& agent : list_in(process_, "agents")) {
    if (whole_or(member(agent, "type"), 0) != kGpu) continue;
    gpus.emplace_back(whole_or(member(agent, "node_id"), 0), &agent);
  }
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::int64_t number = 0;
  for (const auto& [node, agent] : gpus) {
    const std::string& product = text_in(member(*agent, "product_name"));
    const std::string& name = product.empty() ? text_in(member(*agent, "name")) : product;
    const std::int64_t handle = handle_of(*agent, "id");
    GpuAgent gpu = gpu_agent(name, whole_or(member(*agent, "cu_count"), 0));
    gpu.number = number++;
    if (!problems.keep(file, kMemoryOfMapEntry + 2 * std::int64_t{kMostOfDeviceName})) return;
    if (handle < 0 || !agents_.emplace(handle, std::move(gpu)).second) {
      problems.add(file, "agents", fmt::format("id {} is missing or there twice", handle));
    }
  }
}

// The list is indexed by kernel_id, so it has a placeholder, with kernel_id 0, for each that does
// not exist.
void Lookup::read_symbols(const std::string& file, TraceProblems& problems) {
  for (const Json& symbol : list_in(process_, "kernel_symbols")) {
    const std::int64_t id = whole_or(member(symbol, "kernel_id"), -1);
    if (id == 0) continue;
    KernelSymbol made{.name = name_of_symbol(symbol),
                      .registers = registers_of(whole_or(member(symbol, "arch_vgpr_count"), -1),
                                                whole_or(member(symbol, "accum_vgpr_count"), 0))};
    const auto letters = static_cast<std::int64_t>(made.name.size());
    if (!problems.keep(file, kMemoryOfMapEntry + letters)) return;
    if (id < 0 || !symbols_.emplace(id, std::move(made)).second) {
      problems.add(file, "kernel_symbols",
                   fmt::format("kernel_id {} is missing or there twice", id));
    }
  }
}

void Lookup::read_markers(const std::string& file, TraceProblems& problems) {
  const Json* strings = member(process_, "strings");
  if (strings == nullptr) return;
  for (const Json& marker : list_in(*strings, "marker_api")) {
    if (!problems.keep(file, kMemoryOfMapEntry)) return;
    const std::int64_t key = whole_or(member(marker, "key"), -1);
    if (key < 0 || !markers_.emplace(key, &text_in(member(marker, "value"))).second) {
      problems.add(file, "strings.marker_api",
                   fmt::format("key {} is missing or there twice", key));
    }
  }
}

const std::string& Lookup::operation_of(const Json& record) const {
  const std::int64_t kind = whole_or(member(record, "kind"), -1);
  if (kind < 0 || kind >= static_cast<std::int64_t>(operations_.size())) return no_text();
  const Json& operations = list_in(operations_[static_cast<std::size_t>(kind)], "operations");
  const std::int64_t operation = whole_or(member(record, "operation"), -1);
  if (operation < 0 || operation >= static_cast<std::int64_t>(operations.size())) return no_text();
  return text_in(&operations[static_cast<std::size_t>(operation)]);
}

const KernelSymbol* Lookup::symbol(std::int64_t id) const {
  const auto found = symbols_.find(id);
  return found != symbols_.end() ? &found->second : nullptr;
}

const GpuAgent* Lookup::gpu(std::int64_t handle) const {
  const auto found = agents_.find(handle);
  return found != agents_.end() ? &found->second : nullptr;
}

const std::string& Lookup::text_of_range(std::int64_t correlation) const {
  const auto found = markers_.find(correlation);
  return found != markers_.end() ? *found->second : no_text();
}

}  // namespace weft::rocprof
