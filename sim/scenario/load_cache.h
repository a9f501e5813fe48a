// Files of the cache model: a machine's caches (configs/cache/machines) and an application's
// accesses (configs/cache/applications), checked. docs/cache.md describes their keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "sim/cache/accesses.h"
#include "sim/cache/spec.h"
#include "sim/core/diagnostics.h"

namespace weft {

template <class T>
struct LoadedCache {
  std::optional<T> value;  // present when there is no error
  Diagnostics problems;
};

LoadedCache<cache::Hierarchy> load_cache_machine(const std::filesystem::path& file);
LoadedCache<cache::Application> load_cache_application(const std::filesystem::path& file);

// `name` stands for the file in messages.
LoadedCache<cache::Hierarchy> load_cache_machine_text(std::string_view text, std::string_view name);
LoadedCache<cache::Application> load_cache_application_text(std::string_view text,
                                                            std::string_view name);

}  // namespace weft
