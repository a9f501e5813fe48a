#include "sim/scenario/list_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "sim/core/plural.h"
#include "sim/scenario/load.h"
#include "sim/scenario/load_cache.h"
#include "sim/scenario/model_kind.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

// What a file's comment says, up to the first of these marks or the full stop behind it all.
std::string opening(const PartFile& part, std::initializer_list<const char*> marks) {
  const std::string comment = opening_comment(part.file);
  std::size_t end = comment.size() - (comment.ends_with('.') ? 1 : 0);
  for (const char* mark : marks) end = std::min(end, comment.find(mark));
  return comment.substr(0, end);
}

// "NVIDIA ConnectX-6, one port of ..." -> "NVIDIA ConnectX-6".
std::string first_words(const PartFile& part) { return opening(part, {", ", ": ", ". ", " ("}); }

ListLine mistaken(const PartFile& part) {
  return {.word = "", .title = first_words(part), .figures = "(contains a mistake)"};
}

template <std::size_t n, class E>
std::string_view word_of(const std::array<Choice<E>, n>& table, E value) {
  const auto found = std::find_if(table.begin(), table.end(), [value](const Choice<E>& choice) {
    return choice.value == value;
  });
  return found->name;
}

// Decimal, three digits: 4.11 TB/s.
std::string short_text(std::int64_t count, std::string_view unit) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  auto value = static_cast<double>(count);
  std::size_t prefix = 0;
  for (; value >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return fmt::format("{:.3g} {}{}", value, kPrefixes[prefix], unit);
}

std::string fabric_text(const FabricSpec& fabric) {
  return fmt::format("{} {}", fabric.topology->summary(),
                     short_text(fabric.link.bandwidth.count(), "B/s"));
}

std::string gpus_text(const ClusterSpec& cluster) {
  return fmt::format("{} {}", cluster.gpus(), plural(cluster.gpus(), "GPU", "GPUs"));
}

}  // namespace

ListLine gpu_line(const PartFile& part) {
  const auto gpu = load_gpu(part);
  if (!gpu) return mistaken(part);
  return {.word = "",
          .title = gpu->name,
          .figures = fmt::format("{} CUs, HBM {} {}, bf16 {}", gpu->cus,
                                 short_text(gpu->memory.capacity.count(), "B"),
                                 short_text(gpu->memory.bandwidth.count(), "B/s"),
                                 short_text(gpu->bf16_matrix.count(), "FLOP/s"))};
}

ListLine cluster_line(const PartFile& part) {
  const auto cluster = load_cluster(part);
  if (!cluster) return mistaken(part);
  std::string figures = gpus_text(*cluster);
  if (cluster->scale_up) figures += ", " + fabric_text(*cluster->scale_up);
  if (cluster->scale_out) figures += ", " + fabric_text(*cluster->scale_out);
  return {.word = "", .title = cluster->name, .figures = std::move(figures)};
}

ListLine model_line(const PartFile& part) {
  const auto model = load_model(part);
  if (!model) return mistaken(part);
  const ModelKind* const kind = row_of(model->kind).model;
  return {.word = "",
          .title = first_words(part),
          .figures = kind != nullptr ? kind->figures(*model) : ""};
}

ListLine nic_line(const PartFile& part) {
  const auto nic = load_nic(part);
  if (!nic) return mistaken(part);
  return {
      .word = "",
      .title = first_words(part),
      .figures = fmt::format("{}, {}, {}", short_text(nic->bandwidth.count() * 8, "b/s"),
                             message_rate_text(nic->message_interval),
                             nic->initiated_by == InitiatedBy::gpu ? "GPU posts" : "proxy posts")};
}

ListLine scenario_line(const PartFile& part) {
  const Loaded loaded = load_scenario(part.file, {.sets = {}, .config_dirs = part.config_dirs});
  if (!loaded.scenario) return mistaken(part);
  return {
      .word = "", .title = loaded.scenario->name, .figures = gpus_text(loaded.scenario->cluster)};
}

ListLine kernel_line(const PartFile& part) {
  return {.word = "", .title = opening(part, {", for `", "; for `", ":", ". "}), .figures = ""};
}

ListLine sweep_line(const PartFile& part) {
  return {.word = "", .title = opening(part, {". "}), .figures = ""};
}

ListLine caches_line(const PartFile& part) {
  const auto caches = load_cache_machine(part.file).value;
  if (!caches) return mistaken(part);
  std::string figures =
      fmt::format("{} CUs, L1 {}, L2 ", caches->cus, to_text(caches->l1.capacity));
  if (caches->dies > 1) figures += fmt::format("{} x ", caches->dies);
  figures += to_text(caches->l2.capacity);
  if (caches->side) figures += ", memory-side " + to_text(caches->side->capacity);
  figures += ", DRAM " + short_text(caches->dram.bandwidth.count(), "B/s");
  return {.word = "", .title = caches->name, .figures = std::move(figures)};
}

ListLine application_line(const PartFile& part) {
  const auto application = load_cache_application(part.file).value;
  if (!application) return mistaken(part);
  std::int64_t arrays = 0;
  for (const cache::Array& array : application->arrays) arrays += array.size.count();
  const std::size_t kernels = application->kernels.size();
  const std::string repeated =
      application->repeats > 1 ? fmt::format(", {} times", application->repeats) : "";
  return {
      .word = "",
      .title = application->name,
      .figures = fmt::format("{} {}{}, {} of arrays", kernels, plural(kernels, "kernel", "kernels"),
                             repeated, short_text(arrays, "B"))};
}

std::vector<ListLine> collective_lines() {
  std::vector<ListLine> lines;
  for (const Choice<CollectiveOp>& op : names::kCollectiveOps) {
    std::vector<std::string_view> algorithms;
    for (const Choice<Algorithm>& algorithm : names::kAlgorithms) {
      if (exists(op.value, algorithm.value)) algorithms.push_back(algorithm.name);
    }
    lines.push_back({.word = std::string(op.name),
                     .title = std::string(op.meaning),
                     .figures = fmt::format("{}", fmt::join(algorithms, " "))});
  }
  return lines;
}

std::vector<ListLine> shape_lines() {
  std::vector<ListLine> lines;
  for (const KeyDoc& key : describe_scenario()) {
    if (key.path != "cluster.scale_out.shape") continue;
    for (const WordDoc& shape : key.words) {
      lines.push_back({.word = shape.word, .title = shape.meaning, .figures = ""});
    }
  }
  return lines;
}

}  // namespace weft
