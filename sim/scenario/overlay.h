// Overlay: one tree out of several files and the command line.
//
//   cluster:
//     base: clusters/torus_128_mi210    # configs/clusters/torus_128_mi210.yaml
//     scale_out:
//       link: {latency: 1 us}           # everything else stays as in the base
//
// Maps merge deeply, those given with --set too; anything else takes the place of what is below. A
// map that has a `base` of its own takes the place of the whole map below; but `per_node`, how
// many there are, stays. A null removes a key. Every node keeps the position it comes from.
//
// A map whose keys are numbers, laid over a list, changes its elements, counted from 0:
//
//   pairs: {1: {slice_wgs: 4}}          # --set workload.pairs.1.slice_wgs=4
//
// What is said of an element is laid over it; the number of elements adds one; a null removes one,
// after all other changes. Where there is no list, it makes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/spec/tree.h"

namespace weft {

// What a scenario was read from, for the manifest.
struct InputFile {
  std::string path;
  std::string hash;  // FNV-1a of the bytes, 16 hexadecimal digits
};

std::string fnv1a_64_hex(std::string_view text);

// Reads each file once and remembers its text: for the manifest and for the line above a caret.
class SourceFiles {
 public:
  // `longest`: how many bytes a file may have.
  explicit SourceFiles(std::size_t longest = kMaxSourceBytes) : longest_(longest) {}

  // The tree of `file`, or null and an error: at `asked_by` where the file itself is the problem.
  const Node* tree_of(const std::filesystem::path& file, const SourcePosition& asked_by,
                      Diagnostics& problems);
  const Node* tree_of_text(std::string_view text, std::string_view name, Diagnostics& problems);

  [[nodiscard]] std::string line_at(const SourcePosition& at) const;

  // `file` is the base that is named at `by`.
  void named(const std::string& file, const SourcePosition& by);
  // Who named the base that `at` lies in, and so on down to a file that is no base: `at` itself
  // there, and where several have named it.
  [[nodiscard]] SourcePosition named_at(SourcePosition at) const;
  [[nodiscard]] const std::vector<InputFile>& inputs() const { return inputs_; }

 private:
  const Node* keep(const std::string& name, std::string text, Diagnostics& problems);

  std::size_t longest_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::optional<Node>> trees_;
  std::vector<InputFile> inputs_;
  std::map<std::string, std::vector<SourcePosition>> named_;  // by the base's file
};

// The problems of several stages together, each with the text of its line.
Diagnostics with_lines(const std::vector<const Diagnostics*>& stages, const SourceFiles& files);

// The file that the name of a base means: the first of NAME.yaml in these folders; empty: none has
// it.
std::filesystem::path find_base(const std::string& name,
                                const std::vector<std::filesystem::path>& folders);
// What to say where there is none.
std::string missing_base(const std::string& name,
                         const std::vector<std::filesystem::path>& folders);

void lay_over(Node& below, Node above);

// Replaces every map that has a `base` by the file it names with the map's other keys laid over.
class BaseResolver {
 public:
  BaseResolver(SourceFiles& files, const std::vector<std::filesystem::path>& config_dirs,
               Diagnostics& problems)
      : files_(files), config_dirs_(config_dirs), problems_(problems) {}

  // `file` is where relative names of the outermost tree start from.
  void resolve(Node& root, const std::filesystem::path& file);

 private:
  void resolve_node(Node& node, std::string_view key = {});  // by which it is in another
  void resolve_base(Node& map, std::string_view under);      // of that key
  void resolve_astra_sim(Node& map);
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;
  void error(const SourcePosition& at, std::string message);

  SourceFiles& files_;
  const std::vector<std::filesystem::path>& config_dirs_;
  Diagnostics& problems_;
  std::vector<std::filesystem::path> chain_;  // files being resolved, outermost first
  int resolved_ = 0;
};

// One value and where it belongs.
struct Assignment {
  std::vector<std::string> keys;  // the parts of the path
  SourcePosition at;
  Node value;
};

// "a.b.c" as its parts, or nothing: it is not a path.
std::optional<std::vector<std::string>> parse_path(std::string_view path);
// The other way round.
std::string dotted(const std::vector<std::string>& keys);

// One --set, "a.b.c=value"; or nothing and a problem.
std::optional<Assignment> parse_set(std::string_view assignment, Diagnostics& problems);

// As --set: laid over, as a file would be that has the root as its base.
void assign(Node& root, const Assignment& assignment);

// Both together.
void apply_set(Node& root, std::string_view assignment, Diagnostics& problems);

}  // namespace weft
