#include "sim/scenario/load_cache.h"

#include <utility>

#include "sim/cache/application_fields.h"
#include "sim/cache/machine_fields.h"
#include "sim/scenario/overlay.h"

namespace weft {
namespace {

template <class T>
LoadedCache<T> read_tree(const SourceFiles& files, const Node* tree, const Diagnostics& found) {
  LoadedCache<T> loaded;
  Reading reading(Reading::Purpose::read);
  if (tree != nullptr && tree->kind != Node::Kind::map) {
    reading.error(tree->at, "", "must be a map of keys and values");
  } else if (tree != nullptr) {
    T value;
    read_fields(MapReader(reading, *tree), [&value](Fields& all) { fields(all, value); });
    if (!found.has_errors() && !reading.problems().has_errors()) loaded.value = std::move(value);
  }
  loaded.problems = with_lines({&found, &reading.problems()}, files);
  return loaded;
}

template <class T>
LoadedCache<T> load_file(const std::filesystem::path& file) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, found);
  return read_tree<T>(files, tree, found);
}

template <class T>
LoadedCache<T> load_text(std::string_view text, std::string_view name) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of_text(text, name, found);
  return read_tree<T>(files, tree, found);
}

}  // namespace

LoadedCache<cache::Hierarchy> load_cache_machine(const std::filesystem::path& file) {
  return load_file<cache::Hierarchy>(file);
}
LoadedCache<cache::Application> load_cache_application(const std::filesystem::path& file) {
  return load_file<cache::Application>(file);
}
LoadedCache<cache::Hierarchy> load_cache_machine_text(std::string_view text,
                                                      std::string_view name) {
  return load_text<cache::Hierarchy>(text, name);
}
LoadedCache<cache::Application> load_cache_application_text(std::string_view text,
                                                            std::string_view name) {
  return load_text<cache::Application>(text, name);
}

}  // namespace weft
