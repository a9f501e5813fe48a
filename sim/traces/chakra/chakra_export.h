// A ModelGraph as Chakra execution traces, one per rank, as ASTRA-sim reads them.
//
// Computing takes its roofline time, in whole microseconds, at least one; num_ops and tensor_size
// are given as well, and the number and size of its WGs: attributes of weft's own (chakra_file.h),
// which other readers ignore. The order of a stream is written as dependencies, and the streams on
// which a GPU computes beside the first by their number. Sizes are bytes
// (int64): for an all-gather what each rank contributes, for an uneven all-to-all what it sends,
// for all else the buffer.
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
  // `graph` and `gpu` must outlive it.
  ChakraExport(const ModelGraph& graph, const GpuSpec& gpu, int gpus);

  // The .et file of a rank.
  [[nodiscard]] std::string rank(std::uint32_t rank) const;

  // The process groups by their pg_name, as in ASTRA-sim's file of communicator groups: JSON. Empty
  // if every collective is among all GPUs.
  [[nodiscard]] std::string groups() const;

  // The number of uneven all-to-alls, which Chakra cannot express.
  [[nodiscard]] std::size_t uneven() const;

  // The number of all-to-alls that a kernel of their own does row by row: read again, the library
  // does them.
  [[nodiscard]] std::size_t by_rows() const;

  // The number of operators beside which a receive waits on the GPU (ModelOp::beside): read again,
  // none does.
  [[nodiscard]] std::size_t beside_receives() const;

  // The number of operators that are the host's time: read again, they take none unless asked to.
  [[nodiscard]] std::size_t of_host() const;

 private:
  struct Member {
    std::int32_t group = -1;  // of the place; -1: not a member
    std::uint32_t rank = 0;   // in that group
  };

  [[nodiscard]] std::string node(OpId id, std::uint32_t gpu,
                                 const std::vector<std::uint64_t>& after) const;
  [[nodiscard]] std::string group_name(const std::vector<std::uint32_t>& ranks) const;

  const ModelGraph& graph_;
  const GpuSpec& gpu_;
  int gpus_;
  std::vector<RecordedShape> wgs_;                             // by operator, if it computes
  std::vector<std::vector<Member>> members_;                   // by place and GPU
  std::map<std::vector<std::uint32_t>, std::uint32_t> names_;  // from 1; not the group of all GPUs
};

}  // namespace weft
