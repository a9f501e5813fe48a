#include "sim/scenario/machine_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace weft {
namespace {

constexpr std::array kTags{std::pair{"[M]", Sureness::measured},
                           std::pair{"[P]", Sureness::published},
                           std::pair{"[S]", Sureness::digest}, std::pair{"[D]", Sureness::derived},
                           std::pair{"[BG]", Sureness::background}};

// The first tag of the line's comment.
Sureness sureness_of(const std::string& line) {
  const auto comment = line.find('#');
  if (comment == std::string::npos) return Sureness::untagged;
  Sureness found = Sureness::untagged;
  std::size_t first = std::string::npos;
  for (const auto& [tag, sureness] : kTags) {
    const auto at = line.find(tag, comment);
    if (at >= first) continue;
    first = at;
    found = sureness;
  }
  return found;
}

std::string comment_of(const std::string& line) {
  const auto comment = line.find('#');
  return comment == std::string::npos ? "" : line.substr(comment);
}

std::optional<double> number_in(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "memory.bend -0.62"
std::optional<std::pair<std::string, double>> correlation_in(std::string_view& text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  std::string path(text.substr(0, space));
  text.remove_prefix(space + 1);
  const std::optional<double> number = number_in(text);
  if (!number || !(std::abs(*number) <= 1)) return std::nullopt;
  return std::pair(std::move(path), *number);
}

// What follows a spread, but not as it should.
bool speaks_of_others(std::string_view text) {
  const auto word = text.find_first_not_of(" ,;:.");
  return word != std::string_view::npos && text.substr(word).starts_with("with ");
}

class Collecting {
 public:
  explicit Collecting(const SourceFiles& files) : files_(files) {}

  std::vector<MachineNumber> in(const Node& cluster) {
    walk(cluster, "cluster");
    for (MachineNumber& number : numbers_) name_others(number);
    for (MachineNumber& number : numbers_) compare_with_others(number);
    return std::move(numbers_);
  }

 private:
  // The size of the cluster, and how far weft is off: nothing that a machine could have more of.
  static bool is_no_rate(const std::string& path) {
    return path == "cluster.nodes" || path == "cluster.gpus_per_node" ||
           path.rfind("cluster.gpu.errors.", 0) == 0;
  }

  void walk(const Node& map, const std::string& around) {
    for (const Entry& entry : map.entries) {
      const std::string path = around + '.' + entry.key;
      if (entry.value.kind == Node::Kind::map) walk(entry.value, path);
      if (entry.value.kind != Node::Kind::scalar || is_no_rate(path)) continue;
      std::string ignored;
      const std::optional<std::string> type = known_.type_of(path, ignored);
      const CountedType* counted = type ? counted_type(*type) : nullptr;
      if (counted == nullptr) continue;
      const std::string line = files_.line_at(entry.value.at);
      MachineNumber& number = numbers_.emplace_back();
      number.path = path;
      number.value = entry.value.text;
      number.at = entry.value.at;
      number.line = line;
      number.sureness = sureness_of(line);
      number.type = counted;
      number.spread = spread_in(comment_of(line), number.wrong_spread);
    }
  }

  // A file's keys are those of a map of the scenario; of which its comments do not say.
  [[nodiscard]] std::optional<std::string> whole_path(const std::string& of,
                                                      const std::string& key) const {
    for (auto dot = of.find('.'); dot != std::string::npos; dot = of.find('.', dot + 1)) {
      std::string path = of.substr(0, dot + 1) + key;
      std::string ignored;
      const std::optional<std::string> type = known_.type_of(path, ignored);
      if (type && counted_type(*type) != nullptr) return path;
    }
    return std::nullopt;
  }

  void name_others(MachineNumber& number) const {
    if (!number.spread) return;
    for (auto& [key, correlation] : number.spread->with) {
      const std::optional<std::string> path = whole_path(number.path, key);
      if (!path || *path == number.path) {
        return refuse(number, "'; with " + key + "' names no other number of a machine");
      }
      key = *path;
    }
  }

  // Both may say it; of one file, as the numbers of another are not those that were fitted.
  void compare_with_others(MachineNumber& number) const {
    if (!number.spread) return;
    for (const auto& [path, correlation] : number.spread->with) {
      const auto other =
          std::find_if(numbers_.begin(), numbers_.end(),
                       [&path = path](const MachineNumber& one) { return one.path == path; });
      if (other == numbers_.end() || !other->spread || other->at.file != number.at.file) continue;
      const std::optional<double> there = other->spread->correlation_with(number.path);
      if (!there || *there == correlation) continue;
      return refuse(number, "its correlation with " + path +
                                " is another one in the comment of that number, line " +
                                std::to_string(other->at.line));
    }
  }

  static void refuse(MachineNumber& number, std::string why) {
    number.spread.reset();
    number.wrong_spread = std::move(why);
  }

  const SourceFiles& files_;
  KnownKeys known_;
  std::vector<MachineNumber> numbers_;
};

// What grows with the number: of a message rate the time between two is counted.
double size_of(const CountedType& type, std::int64_t count) {
  const auto number = static_cast<double>(count);
  return type.has_ranges ? number : 1 / number;
}

}  // namespace

std::optional<double> Spread::correlation_with(const std::string& path) const {
  for (const auto& [other, correlation] : with) {
    if (other == path) return correlation;
  }
  return std::nullopt;
}

std::optional<Spread> spread_in(const std::string& comment, std::string& wrong) {
  constexpr std::string_view kSign = "+- ";
  const auto at = comment.find(kSign);
  if (at == std::string::npos) return std::nullopt;
  std::string_view text(comment);
  text.remove_prefix(at + kSign.size());
  const std::optional<double> percent = number_in(text);
  if (!percent || !(*percent >= 0 && *percent <= 100 * kMostSpread) || !skip(text, " %")) {
    wrong = "a spread is '+- ' and a number from 0 to 100 with ' %', as in '+- 0.4 %'";
    return std::nullopt;
  }
  Spread spread{.relative = *percent / 100};
  if (!skip(text, "; with ")) {
    if (!speaks_of_others(text)) return spread;
    wrong =
        "numbers that a spread goes with follow '; with ', as in '+- 0.4 %; with memory.bend 0.3'";
    return std::nullopt;
  }
  do {
    auto correlation = correlation_in(text);
    if (!correlation) {
      wrong =
          "what follows '; with ' is a key and its correlation, from -1 to 1, as in "
          "'; with memory.bend -0.62, memory.latency 0.31'";
      return std::nullopt;
    }
    spread.with.push_back(*std::move(correlation));
  } while (skip(text, ", "));
  return spread;
}

std::vector<MachineNumber> machine_numbers(const std::filesystem::path& file,
                                           const LoadOptions& options) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, problems);
  if (tree == nullptr || tree->kind != Node::Kind::map) return {};
  Node root = *tree;
  for (const std::string& set : options.sets) apply_set(root, set, problems);
  BaseResolver(files, options.config_dirs, problems).resolve(root, file);
  const Entry* cluster = root.find("cluster");
  if (problems.has_errors() || cluster == nullptr) return {};
  return Collecting(files).in(cluster->value);
}

const char* tag_of(Sureness sureness) {
  for (const auto& [tag, value] : kTags) {
    if (value == sureness) return tag;
  }
  return "";
}

std::optional<std::string> times(const MachineNumber& number, double factor) {
  const Parsed<std::int64_t> count = number.type->parse(number.value);
  if (!count.ok() || count.value == 0) return std::nullopt;
  const bool grows = (factor > 1) == number.type->has_ranges;
  const double exact =
      static_cast<double>(count.value) * (number.type->has_ranges ? factor : 1 / factor);
  std::int64_t changed = std::llround(exact);
  if (changed == count.value) changed += grows ? 1 : -1;
  if (changed <= 0) return std::nullopt;
  return number.type->text(changed);
}

double factor_of(const MachineNumber& number, const std::string& value) {
  const CountedType& type = *number.type;
  return size_of(type, type.parse(value).value) / size_of(type, type.parse(number.value).value);
}

}  // namespace weft
