#include "sim/html/page.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace weft {
namespace {

struct Known {
  const char* name;
  const char* title;
  ShownAs as;
};
constexpr auto kKnown = std::to_array<Known>({
    {"mode", "mode", ShownAs::text},
    {"time_us", "time", ShownAs::time},
    {"speedup_vs_bulk", "speed-up over bulk", ShownAs::ratio},
    {"speedup_vs_serial", "speed-up over serial", ShownAs::ratio},
    {"speedup", "speed-up over both alone", ShownAs::ratio},
    {"exposed_comm_us", "exposed communication", ShownAs::time},
    {"computing_us", "computing", ShownAs::time},
    {"other_us", "neither", ShownAs::time},
    {"cu_busy", "CUs busy", ShownAs::share},
    {"hbm_busy", "HBM busy", ShownAs::share},
    {"links_busy", "links busy", ShownAs::share},
    {"links_busy_max", "busiest link busy", ShownAs::share},
    {"wgs_per_cu", "WGs per CU", ShownAs::number},
    {"gpu_end_skew", "skew of the GPUs' ends", ShownAs::share},
    {"critical_gaps_us", "launches on the critical path", ShownAs::time},
    {"idle_us", "idle", ShownAs::time},
    {"wait_post_us", "waiting for a post, all WGs", ShownAs::time},
    {"wait_nic_queue_us", "waiting for NIC queues, all WGs", ShownAs::time},
    {"wait_store_us", "waiting for stores, all WGs", ShownAs::time},
    {"wait_flag_us", "waiting for flags, all WGs", ShownAs::time},
    {"fraction_of_ideal", "part of the ideal speed-up", ShownAs::share},
});

// What the end of an axis' name says (sim/scenario/axis_values.cc).
struct Unit {
  std::string_view suffix;
  const char* unit;
};
constexpr auto kUnits = std::to_array<Unit>({{"_us", "us"},
                                             {"_bytes", "bytes"},
                                             {"_gbps", "Gb/s"},
                                             {"_tflops", "TFLOP/s"},
                                             {"_m_per_s", "million/s"}});

std::string in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

Role always(const char* name, const char* column) {
  return {.name = name, .label = "", .choices = {column}, .chosen = column};
}

Role choice(const char* name, const char* label, std::vector<std::string> choices) {
  std::string first = choices.front();
  return {.name = name, .label = label, .choices = std::move(choices), .chosen = std::move(first)};
}

PageColumn mode_column(const std::string& name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return {.name = name, .title = known.title, .as = known.as};
  }
  std::string title = in_words(name);
  const ShownAs as = name.ends_with("_us") ? ShownAs::time : ShownAs::number;
  if (as == ShownAs::time) title.resize(title.size() - 3);
  return {.name = name, .title = title, .as = as};
}

PageColumn axis_column(const std::string& name, bool is_number) {
  PageColumn column{.name = name, .title = in_words(name), .as = ShownAs::text};
  if (!is_number) return column;
  column.as = ShownAs::number;
  for (const auto& [suffix, unit] : kUnits) {
    if (!name.ends_with(suffix)) continue;
    column.title.resize(name.size() - suffix.size());
    column.unit = unit;
  }
  return column;
}

void tell_apart(std::vector<PageColumn>& columns) {
  std::map<std::string, int> with_title;
  for (const PageColumn& column : columns) ++with_title[column.title];
  for (PageColumn& column : columns) {
    if (with_title[column.title] > 1) column.title = in_words(column.name);
  }
}

}  // namespace weft
