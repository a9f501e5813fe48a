// What the rules of validate_*.cc share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/nearest.h"
#include "sim/scenario/scenario.h"
#include "sim/spec/reader.h"

namespace weft::rules {

// The widest that the simulator counts in: items 31 bits, bytes 63 with room for sums, a
// message 32.
constexpr std::int64_t kMostItems = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60U;
constexpr std::int64_t kMostOfMessage = UINT32_MAX;

constexpr const char* kRowsPerWg = "workload.rows_per_wg";

// A rule asks good() for the keys it compares, so that one mistake is not reported twice.
struct Check {
  const Scenario& scenario;
  Reading& reading;

  [[nodiscard]] bool good(std::initializer_list<std::string_view> paths) const;
  [[nodiscard]] bool good_within(std::initializer_list<std::string_view> maps) const;
  void fail(const std::string& path, std::string message) const;
  // Keys that do not go together: as Reading::error_at_one_of.
  void fail_between(const std::vector<std::string>& paths, std::string message) const;
  void warn(const std::string& path, std::string message) const;
  [[nodiscard]] bool embeds() const;
  // The workload's kind, where it could be read.
  [[nodiscard]] bool is(WorkloadKind kind) const;
  [[nodiscard]] bool has(Mode mode) const;
};

std::string text(std::int64_t number);

// Samples of one GPU, or 0 if the batch does not divide evenly.
std::int64_t samples_per_gpu(const Scenario& scenario);

// WGs of one GPU whose results go to one destination, or 0 if they do not divide evenly.
std::int64_t wgs_per_destination(const Scenario& scenario);

// How a collective is asked to be run, by the scenario's own keys or by a rule for pairs, and which
// keys say so: of what does not go together the protocol's.
struct AskedOfCollective {
  AskedAlgorithm algorithm;
  std::optional<Protocol> protocol;
  std::string algorithm_path;
  std::string protocol_path;
};
// Fail where this GPU, or this cluster, has no such kernels.
void an_engine_can_do_it(const Check& check, const AskedOfCollective& asked);
void an_engine_has_no_protocols(const Check& check, const AskedOfCollective& asked);
void the_switch_can_do_it(const Check& check, const AskedOfCollective& asked);
void the_switch_moves_whole_pieces(const Check& check, const AskedOfCollective& asked);

// Fails where the node's links cannot add up and copy; `instead`: what to use.
void the_switch_can_reduce(const Check& check, const std::string& key, const char* instead);

void validate_cluster(const Check& check);
void warn_of_ceilings(const Check& check);
void warn_of_idle_keys(const Check& check);
void validate_workload(const Check& check);
void validate_pairs(const Check& check);
void validate_collectives(const Check& check);
void validate_c3(const Check& check);
void validate_collective(const Check& check);
void validate_transformer(const Check& check);
void validate_layers_of_parts(const Check& check);
// Of a model that has experts; whether these maps were right before any rule was asked.
void validate_experts(const Check& check, bool parallel, bool model);
void validate_transformer_size(const Check& check);
void validate_decoder_memory(const Check& check);
void validate_places(const Check& check);
void validate_counts(const Check& check);

}  // namespace weft::rules
