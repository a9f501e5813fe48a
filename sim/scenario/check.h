// What the rules of validate_*.cc share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sim/scenario/reader.h"
#include "sim/scenario/scenario.h"

namespace weft::rules {

// A rule asks good() for the keys it compares, so that one mistake is not said twice.
struct Check {
  const Scenario& scenario;
  Reading& reading;

  [[nodiscard]] bool good(std::initializer_list<std::string_view> paths) const;
  [[nodiscard]] bool good_within(std::initializer_list<std::string_view> maps) const;
  void fail(const std::string& path, std::string message) const;
  void warn(const std::string& path, std::string message) const;
  [[nodiscard]] bool embeds() const;
  [[nodiscard]] bool has(Mode mode) const;
};

std::string text(std::int64_t number);

// "8064 or 8192": the multiples of `step` around `value`.
std::string multiples_around(std::int64_t value, std::int64_t step);

// "16 or 32": the divisors of `whole` around `value`.
std::string divisors_around(std::int64_t whole, std::int64_t value);

// Samples of one GPU, or 0 where the batch does not divide.
std::int64_t samples_per_gpu(const Scenario& scenario);

// WGs of one GPU whose results go to one destination, or 0 where they do not divide.
std::int64_t wgs_per_destination(const Scenario& scenario);

void validate_cluster(const Check& check);
void warn_of_ceilings(const Check& check);
void validate_workload(const Check& check);
void validate_operators(const Check& check);
void validate_c3(const Check& check);
void validate_collective(const Check& check);
void validate_dlrm(const Check& check);
void validate_transformer(const Check& check);
void validate_transformer_size(const Check& check);
void validate_places(const Check& check);
void validate_counts(const Check& check);

}  // namespace weft::rules
