#include "sim/traces/nodes/nvtx_operator.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view kSizes = ", sizes = [";
constexpr std::size_t kMostInputs = 64;
constexpr std::size_t kMostDims = 16;

std::string_view name_in(std::string_view range) { return range.substr(0, range.find(',')); }

// "[1024, 256]" at the start of the text, which is taken off it. Nothing if there is no such list.
std::optional<std::vector<std::int64_t>> take_list(std::string_view& text) {
  if (text.empty() || text.front() != '[') return std::nullopt;
  text.remove_prefix(1);
  std::vector<std::int64_t> sizes;
  while (!text.empty() && text.front() != ']') {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || sizes.size() == kMostDims) return std::nullopt;
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (!text.empty() && (text.front() == ',' || text.front() == ' ')) text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  return sizes;
}

std::vector<OperatorInput> inputs_in(std::string_view range, std::int64_t element_bytes) {
  const std::size_t at = range.find(kSizes);
  if (at == std::string_view::npos) return {};
  std::string_view rest = range.substr(at + kSizes.size());
  std::vector<OperatorInput> inputs;
  while (inputs.size() < kMostInputs) {
    auto sizes = take_list(rest);
    if (!sizes) return {};
    OperatorInput input;
    input.element_bytes = sizes->empty() ? 0 : element_bytes;
    input.sizes = std::move(*sizes);
    inputs.push_back(std::move(input));
    if (rest.starts_with("]")) return inputs;
    if (!rest.starts_with(", ")) return {};
    rest.remove_prefix(2);
  }
  return {};
}

}  // namespace

bool is_operator(std::string_view range) {
  const std::string_view name = name_in(range);
  return name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos;
}

std::optional<RecordedWork> work_of_range(std::string_view range, std::int64_t element_bytes) {
  auto work = work_of_operator(name_in(range), inputs_in(range, element_bytes));
  if (work && work->kind == RecordedKind::attention) return std::nullopt;
  return work;
}

std::optional<std::int64_t> step_of_range(std::string_view range) {
  constexpr std::size_t kLongest = 40;
  if (range.size() > kLongest) return std::nullopt;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t at =
      static_cast<std::size_t>(std::find_if(range.begin(), range.end(), digit) - range.begin());
  std::string_view word = range.substr(0, at);
  while (!word.empty() && std::string_view("#_ :").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  constexpr std::string_view kWords = " ProfilerStep step Step iteration Iteration iter Iter ";
  const bool known = !word.empty() && word.find(' ') == std::string_view::npos &&
                     kWords.find(' ' + std::string(word) + ' ') != std::string_view::npos;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(range.data() + at, range.data() + range.size(), number);
  if (!known || error != std::errc() || end != range.data() + range.size()) return std::nullopt;
  return number;
}

}  // namespace weft
