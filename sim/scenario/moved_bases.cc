#include "sim/scenario/moved_bases.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "sim/files/place.h"
#include "sim/scenario/base_keys.h"
#include "sim/scenario/overlay.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

fs::path found(const std::string& name, const fs::path& file, std::vector<fs::path> dirs) {
  dirs.insert(dirs.begin(), folder_of(file));
  return find_base(name, dirs);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return !a.empty() && !b.empty() && fs::equivalent(a, b, ignored);
}

fs::path seen_from(const fs::path& folder, const fs::path& file) {
  std::error_code ignored;
  return fs::absolute(file, ignored)
      .lexically_normal()
      .lexically_relative(fs::absolute(folder, ignored).lexically_normal());
}

std::string new_name(const std::string& name, const MovedFile& moved) {
  const fs::path file = found(name, moved.from, moved.dirs_from);
  if (file.empty() || same_file(file, found(name, moved.to, moved.dirs_to))) return name;
  std::vector<fs::path> folders = moved.dirs_to;  // by its name in the configs, if it has one there
  folders.push_back(folder_of(moved.to));
  for (const fs::path& folder : folders) {
    std::string other = seen_from(folder, file).replace_extension().generic_string();
    if (same_file(file, found(other, moved.to, moved.dirs_to))) return other;
  }
  return name;
}

void collect(const Node& node, const std::string& path, const MovedFile& moved,
             std::vector<NewValue>& values) {
  for (const Entry& entry : node.entries) {
    const std::string own = path + entry.key;
    const std::string& text = entry.value.text;
    std::string other = text;
    if (entry.value.kind != Node::Kind::scalar) {
      collect(entry.value, own + ".", moved, values);
    } else if (entry.key == base_keys::kBase) {
      other = new_name(text, moved);
    } else if (entry.key == base_keys::kFromAstraSim && fs::path(text).is_relative()) {
      other = seen_from(folder_of(moved.to), folder_of(moved.from) / text).generic_string();
    }
    if (other != text) values.push_back({.path = own, .text = other, .comment = ""});
  }
}

}  // namespace

std::vector<NewValue> moved_bases(std::string_view text, const MovedFile& moved) {
  Diagnostics problems;  // said by who reads the file
  std::vector<NewValue> values;
  const auto tree = parse_tree({.file = moved.from.string(), .text = text}, problems);
  if (tree) collect(*tree, "", moved, values);
  return values;
}

}  // namespace weft
