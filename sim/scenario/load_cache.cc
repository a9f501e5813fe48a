#include "sim/scenario/load_cache.h"

#include <utility>

#include "sim/cache/machine_fields.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/read_cache.h"

namespace weft {
namespace {

cache::Hierarchy read_cache_machine(MapReader map) {
  cache::Hierarchy machine;
  read_fields(std::move(map), [&machine](Fields& all) { fields(all, machine); });
  return machine;
}

template <class T>
LoadedCache<T> read_tree(const SourceFiles& files, const Node* tree, const Diagnostics& found,
                         T (*read)(MapReader)) {
  LoadedCache<T> loaded;
  Reading reading(Reading::Purpose::read);
  if (tree != nullptr && tree->kind != Node::Kind::map) {
    reading.error(tree->at, "", "must be a map of keys and values");
  } else if (tree != nullptr) {
    T value = read(MapReader(reading, *tree));
    if (!found.has_errors() && !reading.problems().has_errors()) loaded.value = std::move(value);
  }
  loaded.problems = with_lines({&found, &reading.problems()}, files);
  return loaded;
}

template <class T>
LoadedCache<T> load_file(const std::filesystem::path& file, T (*read)(MapReader)) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, found);
  return read_tree(files, tree, found, read);
}

template <class T>
LoadedCache<T> load_text(std::string_view text, std::string_view name, T (*read)(MapReader)) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of_text(text, name, found);
  return read_tree(files, tree, found, read);
}

}  // namespace

LoadedCache<cache::Hierarchy> load_cache_machine(const std::filesystem::path& file) {
  return load_file(file, read_cache_machine);
}
LoadedCache<cache::Application> load_cache_application(const std::filesystem::path& file) {
  return load_file(file, read_cache_application);
}
LoadedCache<cache::Hierarchy> load_cache_machine_text(std::string_view text,
                                                      std::string_view name) {
  return load_text(text, name, read_cache_machine);
}
LoadedCache<cache::Application> load_cache_application_text(std::string_view text,
                                                            std::string_view name) {
  return load_text(text, name, read_cache_application);
}

}  // namespace weft
