// Parameters that no GPU keeps whole (parallel.shard: parameters): stage 3 of ZeRO
// (arXiv:1910.02054) as PyTorch's fully_shard of each layer has it (FSDP, arXiv:2304.11277).
//
// Units are the embedding with the head, which stays whole from the forward to the end of the
// backward pass, and each layer, gathered for each pass. When a pass comes to a unit, the gather of
// the unit `prefetch` ahead begins on a stream of its own; a copy then lays the unit's own tensors
// out of what was gathered, part of each GPU by part, and its operators follow.
#pragma once

#include <vector>

#include "sim/models/block_writer.h"
#include "sim/models/copies.h"

namespace weft {

class Parameters {
 public:
  Parameters(BlockWriter& out, const Workload& workload, const Stage& stage)
      : out_(out), workload_(workload), stage_(stage) {}

  // A pass begins.
  void begin_forward();
  void begin_backward();
  // Its next unit begins: first the embedding with the head, where they are, then the layers in
  // the order of the pass.
  void use_next();

 private:
  struct Unit {
    LayerWeights weights;
    bool whole = false;  // still there from the forward pass
    std::vector<OpId> gathered = {};
  };
  [[nodiscard]] Unit root() const;
  [[nodiscard]] std::vector<Unit> layers() const;
  void begin(std::vector<Unit> units);
  void gather(Unit& unit);
  void copy_out(const Unit& unit);

  BlockWriter& out_;
  const Workload& workload_;
  Stage stage_;
  std::vector<Unit> units_;  // of the pass
  std::size_t next_ = 0;     // to be used
  std::size_t begun_ = 0;    // gathers, of the units before this one
};

}  // namespace weft
