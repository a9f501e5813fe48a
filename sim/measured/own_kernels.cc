#include "sim/measured/own_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {
namespace {

enum class OwnOperator : std::uint8_t { embedding, gemv, gemm, triton_gemm };

struct OwnRow {
  std::string_view kind;
  OwnOperator what;
  const char* scenario;
  const char* bulk = "";
  Mode mode = Mode::fused;
  Until until = Until::all_done;
};
constexpr std::array kOwnRows = {
    OwnRow{"torch.emb.hip", OwnOperator::embedding, "validation/hip_emb", "torch.emb.hip_bulk"},
    OwnRow{"torch.emb.hip_bulk", OwnOperator::embedding, "validation/hip_emb", "", Mode::bulk},
    OwnRow{"torch.emb.hip_compute", OwnOperator::embedding, "validation/hip_emb", "", Mode::bulk,
           Until::computed},
    OwnRow{"torch.gemv.hip", OwnOperator::gemv, "validation/hip_gemv"},
    OwnRow{"torch.gemm.hip", OwnOperator::gemm, "validation/hip_gemm", "torch.gemm.bulk"},
    OwnRow{"torch.gemm_rs.hip", OwnOperator::gemm, "validation/hip_gemm_rs", "torch.gemm_rs.bulk"},
    OwnRow{"torch.ag_gemm.hip", OwnOperator::gemm, "validation/hip_ag_gemm", "torch.ag_gemm.bulk"},
    OwnRow{"torch.gemm.triton", OwnOperator::triton_gemm, "validation/triton_gemm",
           "torch.gemm.bulk"},
    OwnRow{"torch.gemm_rs.triton", OwnOperator::triton_gemm, "validation/triton_gemm_rs",
           "torch.gemm_rs.bulk"},
    OwnRow{"torch.ag_gemm.triton_engine", OwnOperator::triton_gemm, "validation/triton_ag_gemm",
           "torch.ag_gemm.bulk", Mode::copy_fed},
    OwnRow{"torch.ag_gemm.triton", OwnOperator::triton_gemm, "validation/triton_ag_gemm",
           "torch.ag_gemm.bulk"},
};

const OwnRow* find_own_row(std::string_view kind) {
  const auto* found = std::find_if(kOwnRows.begin(), kOwnRows.end(),
                                   [&](const OwnRow& row) { return row.kind == kind; });
  return found == kOwnRows.end() ? nullptr : found;
}

// The largest power of two up to `most` that divides a destination's rows (weft_fused/shapes.py).
std::int64_t rows_per_wg(std::int64_t rows, std::int64_t most) {
  while (rows % most != 0) most /= 2;
  return most;
}

class OwnKernels {
 public:
  OwnKernels(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems)
      : line_(line), gpu_(gpu), problems_(problems) {}

  Case make(const OwnRow& row) {
    made_ = {.scenario = row.scenario, .sets = {}, .mode = row.mode, .until = row.until};
    set("cluster.gpus_per_node", needed("gpus"));
    if (row.what == OwnOperator::embedding) embedding();
    if (row.what == OwnOperator::gemv) gemv();
    if (row.what == OwnOperator::gemm || row.what == OwnOperator::triton_gemm) gemm();
    if (row.what == OwnOperator::gemm) hip_gemm();
    if (row.what == OwnOperator::triton_gemm) triton_gemm(row);
    if (row.bulk == std::string_view("torch.ag_gemm.bulk") && row.mode == Mode::fused) {
      set_piece(row.what == OwnOperator::gemm ? 8 : 16);
    }
    return made_;
  }

 private:
  std::int64_t needed(const char* name) {
    return std::max<std::int64_t>(1, line_.needed(name, problems_).value_or(1));
  }
  void set(const char* key, std::int64_t value, const char* unit = "") {
    made_.sets.push_back(fmt::format("{}={}{}", key, value, unit));
  }

  // Of all-gather + GEMM: so many rows, as the line says; lines of older kernels do not.
  void set_piece(std::int64_t older) {
    set("fused.piece", line_.number("rows_at_once").value_or(older) * 2 * needed("k"), " B");
  }

  void embedding() {
    set("workload.batch", needed("batch"));
    set("workload.tables_per_gpu", needed("tables"));
    set("workload.dim", needed("dim"));
    set("workload.pooling", needed("pooling"));
    set("workload.rows_per_table", needed("rows_per_table"));
    set("workload.rows_per_wg",
        rows_per_wg(needed("batch") / needed("gpus") * needed("tables"), 32));
  }

  void gemv() {
    constexpr std::int64_t kHalf = 2;  // bytes of a weight
    set("workload.gemv.m", needed("m"));
    set("workload.gemv.k", needed("k"));
    set("workload.gemv.rows_per_wg", rows_per_wg(needed("m") / needed("gpus"), 16));
    made_.sets.push_back(place_of_weights(needed("m") * needed("k") * kHalf, gpu_));
  }

  void gemm() {
    set("workload.gemm.m", needed("m"));
    set("workload.gemm.n", needed("n"));
    set("workload.gemm.k", needed("k"));
  }

  // Tiles as launch_gemm.cc chooses them. Only the kernel for Hopper is described.
  void hip_gemm() {
    const auto tile = line_.words.find("tile");
    if (tile == line_.words.end() || tile->second != "wgmma") {
      problems_.add({.at = line_.at,
                     .path = "tile",
                     .message =
                         "must be wgmma: the HIP GEMM is described as it is built for Hopper, "
                         "and lines without `tile` are of an earlier one",
                     .source_line = ""});
    }
    if (!takes_large_tiles()) set("workload.gemm.tile_n", 128);
  }

  // Tiles and their order as weft_triton/operators.py chooses them (`best`, `Plan`, `head_of`).
  void triton_gemm(const OwnRow& row) {
    const bool large = takes_large_tiles();
    if (!large) take_small_tiles();
    const bool gathers = std::string_view(row.scenario) == "validation/triton_ag_gemm";
    const bool all_to_all = std::string_view(row.scenario) == "validation/triton_gemm";
    const std::int64_t down = needed("m") / 128;
    const std::int64_t tiles = down * (needed("n") / (large ? 256 : 128));
    const std::int64_t programs = std::min<std::int64_t>((large ? 1 : 2) * gpu_.cus, tiles);
    const bool few_rows = needed("m") <= (gathers ? 512 : 1024);
    const bool much_of_b = 2 * needed("n") * needed("k") > 120'000'000;
    const bool many_tiles = 10 * tiles >= (gathers ? 30 : 9) * programs;
    if (all_to_all || !few_rows || !much_of_b || !many_tiles) return;
    if (!gathers) {
      made_.sets.emplace_back("fused.order=in_turn");
      return;
    }
    const std::int64_t gpus = needed("gpus");
    const std::int64_t rows = needed("m") / gpus;
    const double rounds = 0.2 + 6e-4 * static_cast<double>(rows * (gpus - 1));
    const auto own = static_cast<std::int64_t>(rounds * static_cast<double>(programs));
    const std::int64_t of_column = down / gpus;
    set("fused.own_first", round_up(own, of_column) * of_column);
  }

  // By rounds of one tile on each SM.
  bool takes_large_tiles() {
    const auto rounds = [&](std::int64_t width) {
      return round_up(needed("m") / 128 * (needed("n") / width), gpu_.cus);
    };
    return needed("n") % 256 == 0 && 3 * rounds(256) <= 2 * rounds(128);
  }
  void take_small_tiles() {
    set("workload.gemm.tile_n", 128);
    set("workload.gemm.wg.threads", 128);
    made_.sets.emplace_back("workload.gemm.wg.lds=96 KiB");  // two on an SM
    made_.sets.emplace_back("workload.gemm.efficiency=0.6");
  }

  const MeasuredLine& line_;
  const GpuSpec& gpu_;
  Diagnostics& problems_;
  Case made_;
};

}  // namespace

bool is_own_kernel(const std::string& kind) { return find_own_row(kind) != nullptr; }

Case own_kernel(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems) {
  const OwnRow* row = find_own_row(line.kind);
  SIM_ASSERT(row != nullptr);
  return OwnKernels(line, gpu, problems).make(*row);
}

std::string bulk_of_own_kernel(const std::string& kind) {
  const OwnRow* row = find_own_row(kind);
  return row == nullptr ? "" : row->bulk;
}

}  // namespace weft
