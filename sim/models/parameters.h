// Parameters that no GPU keeps whole (parallel.shard: parameters): stage 3 of ZeRO
// (arXiv:1910.02054) as PyTorch's fully_shard of each layer has it (FSDP, arXiv:2304.11277).
//
// Units are the embedding with the head, or what of them is here, and each layer, gathered for each
// pass. The former stays whole from the forward to the end of the backward pass. In a pipeline what
// a backward pass has gathered stays for the next microbatch's forward pass (as its stages in
// PyTorch: set_reshard_after_backward). When a pass comes to a unit, the gather of the unit
// `prefetch` ahead begins on a stream of its own, that of the first one when what its GPU computed
// before the pass has ended, too (PyTorch's root_pre_forward lets it wait for the stream that
// computes); a copy then lays the unit's own tensors out of what was gathered, part of each GPU by
// part, and its operators follow.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/models/block_writer.h"
#include "sim/models/copies.h"

namespace weft {

class Parameters {
 public:
  Parameters(BlockWriter& out, const Workload& workload, const Stage& stage)
      : out_(out), workload_(workload), stage_(stage), units_(units()) {}

  enum class Pass : std::uint8_t { forward, backward };
  // `before`: the last that was computed before the pass.
  void begin(Pass pass, OpId before);
  // The embedding or the head begins, or a layer, in the order of the pass.
  void use_ends();
  void use_next();

 private:
  struct Unit {
    LayerWeights weights;
    bool is_layer = true;
    bool whole = false;  // gathered by an earlier pass
    std::vector<OpId> gathered = {};
  };
  [[nodiscard]] const ParallelSpec& parallel() const { return workload_.transformer.parallel; }
  [[nodiscard]] std::vector<Unit> units() const;
  Unit& at(std::size_t turn);
  void use_unit();
  void gather(Unit& unit);
  void copy_out(Unit& unit);
  [[nodiscard]] bool stays_whole(const Unit& unit) const;

  BlockWriter& out_;
  const Workload& workload_;
  Stage stage_;
  std::vector<Unit> units_;  // the ends first, then the layers; empty if parameters are not shared
  Pass pass_ = Pass::forward;  // and of its units:
  std::size_t next_ = 0;       // to be used
  std::size_t begun_ = 0;      // gathers, of those before this one
  OpId before_ = OpId::none();
};

}  // namespace weft
