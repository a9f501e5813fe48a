#include "sim/traces/recorded_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "sim/core/plain_text.h"

namespace weft {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// "V100", "MI300X", but neither "SXM2" nor "32GB": capitals, then two digits or more.
bool is_model(std::string_view word) {
  const std::size_t capitals = static_cast<std::size_t>(
      std::find_if_not(word.begin(), word.end(), is_capital) - word.begin());
  if (capitals == 0) return false;
  const std::string_view rest = word.substr(capitals);
  return std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin() >= 2;
}

std::vector<std::string_view> models_in(std::string_view name) {
  std::vector<std::string_view> models;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (is_model(name.substr(i, end - i))) models.push_back(name.substr(i, end - i));
    i = end + 1;
  }
  return models;
}

}  // namespace

bool may_be(const RecordedDevice& device, const GpuSpec& gpu) {
  if (device.cus > 0 && device.cus != gpu.cus) return false;
  const std::vector<std::string_view> there = models_in(device.name);
  const std::vector<std::string_view> here = models_in(gpu.name);
  if (there.empty() || here.empty()) return true;
  // A GB200 has B200s.
  return std::any_of(there.begin(), there.end(), [&here](std::string_view a) {
    return std::any_of(here.begin(), here.end(),
                       [a](std::string_view b) { return a.ends_with(b) || b.ends_with(a); });
  });
}

RecordedDevice recorded_device(std::string_view name, std::int64_t cus) {
  return {.name = printable(std::string(name.substr(0, kMostOfDeviceName))), .cus = cus};
}

std::string text_of(const RecordedDevice& device) {
  return device.cus > 0 ? fmt::format("'{}', {} SMs", device.name, device.cus)
                        : fmt::format("'{}'", device.name);
}

}  // namespace weft
