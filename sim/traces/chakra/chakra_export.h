// A ModelGraph as Chakra execution traces, one a rank, such as ASTRA-sim reads.
//
// Computing takes what its roofline says, in whole microseconds, at least one; num_ops and
// tensor_size are given as well, and by how many WGs, of what size: attributes of weft's own
// (chakra_file.h), which other readers pass over. What a stream's order means is written as
// dependencies. Sizes are bytes (int64): of an all-gather what each rank puts in, of all else the
// buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

class ChakraExport {
 public:
  // Both have to outlive it.
  ChakraExport(const ModelGraph& graph, const GpuSpec& gpu, int gpus);

  // The .et file of a rank.
  [[nodiscard]] std::string rank(std::uint32_t rank) const;

  // The process groups by their pg_name, as ASTRA-sim's file of communicator groups: JSON. Empty
  // where every collective is of all GPUs.
  [[nodiscard]] std::string groups() const;

  // What Chakra cannot say: how many all-to-alls are uneven.
  [[nodiscard]] std::size_t uneven() const;

 private:
  struct Member {
    std::int32_t group = -1;  // of the place; -1: not in it
    std::uint32_t rank = 0;   // in that group
  };

  [[nodiscard]] std::string node(OpId id, std::uint32_t gpu,
                                 const std::vector<std::uint64_t>& after) const;
  [[nodiscard]] std::string group_name(const std::vector<std::uint32_t>& ranks) const;

  const ModelGraph& graph_;
  const GpuSpec& gpu_;
  int gpus_;
  std::vector<RecordedShape> wgs_;                             // by operator, where it computes
  std::vector<std::vector<Member>> members_;                   // by place and GPU
  std::map<std::vector<std::uint32_t>, std::uint32_t> names_;  // from 1; without that of all
};

}  // namespace weft
