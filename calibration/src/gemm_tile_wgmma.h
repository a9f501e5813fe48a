#pragma once

#include "bulk_copy.h"
#include "gemm_tile.h"

// The tile on Hopper: two warpgroups of 64 rows each, wgmma of 64 x tile_n x 16 from shared memory.
// The copy engine of the SM (TMA) brings steps of 64 along k, whose rows of 128 bytes it swizzles
// in chunks of 16 bytes as wgmma's 128-byte mode has it (PTX ISA, "Shared Memory Matrix Layout").

namespace calibration {

constexpr int narrow_tile_n = 128;
constexpr int wide_tile_n = 256;
constexpr int gemm_occupancy = 1;  // WGs on an SM
// Two warps beside those that multiply: one brings steps, one sends tiles.
constexpr int loading_warp = threads_per_wg / 32;
constexpr int sending_warp = loading_warp + 1;
constexpr int tile_threads = threads_per_wg + 64;

// Shared memory: stages, then a tile on its way to memory, then notes. Pitch of the staged tile:
// the rows that a warp writes at once lie in different banks.
template <int tile_n>
constexpr unsigned stage_bytes = (tile_m + tile_n) * row_bytes;
template <int tile_n>
constexpr int stages_of = tile_n == wide_tile_n ? 3 : 6;
constexpr int stages_most = 6;
constexpr int tile_stages = stages_of<wide_tile_n>;  // what lines say
template <int tile_n>
constexpr unsigned stages_bytes = stages_of<tile_n> * stage_bytes<tile_n>;
template <int tile_n>
constexpr unsigned staged_row_bytes = tile_n * sizeof(bf16_bits) + 16;
constexpr std::size_t notes_bytes = 256;
template <int tile_n>
constexpr std::size_t bytes_before_notes = stages_bytes<tile_n> + tile_m * staged_row_bytes<tile_n>;
constexpr std::size_t tile_shared_bytes =
    std::max(bytes_before_notes<narrow_tile_n>, bytes_before_notes<wide_tile_n>) + notes_bytes;

__device__ inline char* tile_memory() {
  extern __shared__ __align__(1024) char shared_of_tiles[];
  return shared_of_tiles;
}

// A tile as one role of a WG tells the next one. No `out`: there are no more.
struct ToldTile {
  bf16_bits* out;
  int number;
  int steps;
};

constexpr int told_most = 2;  // tiles that are known before they are multiplied

struct TileNotes {
  unsigned long long full[stages_most];  // barriers of stages
  unsigned long long empty[stages_most];
  unsigned long long told[told_most];  // the next tile is known
  unsigned long long heard[told_most];
  unsigned long long staged;  // a tile is there to be sent
  unsigned long long free;    // and has left
  ToldTile next[told_most];
  ToldTile made;
};

__device__ inline TileNotes& tile_notes() {  // at the end
  return *reinterpret_cast<TileNotes*>(tile_memory() + tile_shared_bytes - notes_bytes);
}

// Rows that a peer has stored are read by another proxy than the one that waited for them.
__device__ inline void fence_before_steps() { asm volatile("fence.proxy.async;" ::: "memory"); }

// A barrier in shared memory, by its address there.
class StepBarrier {
 public:
  __device__ explicit StepBarrier(const unsigned long long& barrier)
      : address_(shared_address(&barrier)) {}

  __device__ void set_up(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_), "r"(arrivals)
                 : "memory");
  }
  __device__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_) : "memory");
  }
  __device__ void expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_),
                 "r"(bytes)
                 : "memory");
  }
  // Until the phase of this parity is over.
  __device__ void wait(unsigned parity) const {
    unsigned over = 0;
    while (over == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(over)
          : "r"(address_), "r"(parity)
          : "memory");
    }
  }
  // A box of `matrix`, zero beyond its end, to `to`.
  __device__ void bring(MatrixRef matrix, int row, int k, unsigned to) const {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4}], [%2];" ::"r"(to),
        "l"(reinterpret_cast<unsigned long long>(&matrix->map)), "r"(address_), "r"(k), "r"(row)
        : "memory");
  }

 private:
  unsigned address_;
};

// A matrix of rows of 128 bytes, k along them: groups of 8 rows 1,024 bytes apart.
__device__ inline unsigned long long matrix_at(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3FFFFU) >> 4U) | 1ULL << 16U |
         (1024ULL >> 4U) << 32U | 1ULL << 62U;
}

#define CALIBRATION_SUMS_4(i) \
  "+f"(sums[i]), "+f"(sums[(i) + 1]), "+f"(sums[(i) + 2]), "+f"(sums[(i) + 3])
#define CALIBRATION_SUMS_16(i)                                                     \
  CALIBRATION_SUMS_4(i), CALIBRATION_SUMS_4((i) + 4), CALIBRATION_SUMS_4((i) + 8), \
      CALIBRATION_SUMS_4((i) + 12)
#define CALIBRATION_SUMS_64(i)                                                          \
  CALIBRATION_SUMS_16(i), CALIBRATION_SUMS_16((i) + 16), CALIBRATION_SUMS_16((i) + 32), \
      CALIBRATION_SUMS_16((i) + 48)

// sums += A B^T, of 64 rows of A and all of B, 16 along k.
__device__ inline void multiply_16(float (&sums)[64], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
      : CALIBRATION_SUMS_64(0)
      : "l"(a), "l"(b));
}

__device__ inline void multiply_16(float (&sums)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,"
      "%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,"
      "%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,"
      "%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, "
      "1, 1, 1, 0, 0;"
      : CALIBRATION_SUMS_64(0), CALIBRATION_SUMS_64(64)
      : "l"(a), "l"(b));
}

#undef CALIBRATION_SUMS_4
#undef CALIBRATION_SUMS_16
#undef CALIBRATION_SUMS_64

// A warpgroup's products of a stage, under way when this returns: its rows of A are its own.
template <int tile_n>
__device__ inline void multiply_stage(float (&sums)[TileSums<tile_n>::count], unsigned stage) {
  const unsigned long long a = matrix_at(stage + threadIdx.x / 128 * 64 * row_bytes);
  const unsigned long long b = matrix_at(stage + tile_m * row_bytes);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (unsigned k = 0; k < tile_k; k += 16) {
    const unsigned long long along = k * sizeof(bf16_bits) / 16;
    multiply_16(sums, a + along, b + along);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Products under way write the sums: nothing that reads or writes these may move across this.
template <int count>
__device__ inline void fence_sums(float (&sums)[count]) {
#pragma unroll
  for (float& sum : sums) {
    asm volatile("" : "+f"(sum)::"memory");
  }
}

template <int of_last>
__device__ inline void wait_for_products() {  // but for the last ones
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(of_last) : "memory");
}

// Rounds to nearest even: `low` in the lower half.
__device__ inline unsigned packed_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// A WG's tiles. One warp brings their steps into stages of shared memory, one after another, and
// both warpgroups read these: a stage is full when its bytes are there, and empty when both have
// multiplied it. A tile that is made is staged for another warp, which copies it to its place and
// waits for that.
template <int tile_n>
class TilePipeline {
 public:
  __device__ TilePipeline() {
    static_assert(sizeof(TileNotes) <= notes_bytes && stages <= stages_most);
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        full(stage).set_up(1);
        empty(stage).set_up(2);
      }
      for (int place = 0; place < told_most; ++place) {
        told(place).set_up(1);
        heard(place).set_up(threads_per_wg);
      }
      staged().set_up(threads_per_wg);
      free().set_up(1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
  }

  template <class Next>
  __device__ void load(Next& next) {
    if (threadIdx.x % 32 == 0) {
      Cursor<stages> stage;
      for (Cursor<told_most> place;; place.advance()) {
        const TileWork work = next();
        const int steps = (work.tile.k + tile_k - 1) / tile_k;
        heard(place.at).wait(place.parity ^ 1U);  // at first it is
        tile_notes().next[place.at] = {work.out, work.number, steps};
        told(place.at).arrive();
        if (work.out == nullptr) {
          break;
        }
        for (int step = 0; step < steps; ++step) {
          bring(work.tile, step, stage);
        }
      }
    }
    __syncwarp();
  }

  __device__ void make() {
    Cursor<stages> stage;
    Cursor<1> made;
    for (Cursor<told_most> place;; place.advance()) {
      told(place.at).wait(place.parity);
      const ToldTile tile = tile_notes().next[place.at];
      heard(place.at).arrive();
      TileSums<tile_n> sums;
      if (tile.out != nullptr) {
        multiply(tile.steps, sums, stage);
      }
      free().wait(made.parity ^ 1U);  // at first it is
      if (tile.out != nullptr) {
        store(sums);
      }
      if (threadIdx.x == 0) {
        tile_notes().made = tile;
      }
      staged().arrive();
      if (tile.out == nullptr) {
        return;
      }
      made.advance();
    }
  }

  template <class Leaving>
  __device__ void send(int pitch, const Leaving& leaving) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (Cursor<1> made;; made.advance()) {
      staged().wait(made.parity);
      const ToldTile tile = tile_notes().made;
      if (tile.out == nullptr) {
        return;
      }
      if (lane == 0) {
        leaving.begins(tile.number);
      }
      __syncwarp();
      copy_rows(lane, tile.out, pitch);
      wait_until_read();
      __syncwarp();
      if (lane == 0) {
        free().arrive();
      }
      wait_until_there();
      __syncwarp();
      if (lane == 0) {
        leaving.there(tile.number);
      }
    }
  }

 private:
  static constexpr int stages = stages_of<tile_n>;
  static constexpr unsigned row_apart = staged_row_bytes<tile_n>;

  // A place in a ring of `count`, and the parity of its barrier's phase.
  template <int count>
  struct Cursor {
    int at = 0;
    unsigned parity = 0;

    __device__ void advance() {
      if (++at == count) {
        at = 0;
        parity ^= 1U;
      }
    }
  };

  __device__ static unsigned address_of(int stage) {
    return shared_address(tile_memory()) + static_cast<unsigned>(stage) * stage_bytes<tile_n>;
  }
  __device__ static StepBarrier full(int stage) { return StepBarrier(tile_notes().full[stage]); }
  __device__ static StepBarrier empty(int stage) { return StepBarrier(tile_notes().empty[stage]); }
  __device__ static StepBarrier told(int place) { return StepBarrier(tile_notes().told[place]); }
  __device__ static StepBarrier heard(int place) { return StepBarrier(tile_notes().heard[place]); }
  __device__ static StepBarrier staged() { return StepBarrier(tile_notes().staged); }
  __device__ static StepBarrier free() { return StepBarrier(tile_notes().free); }

  __device__ static void bring(const Tile& tile, int step, Cursor<stages>& stage) {
    empty(stage.at).wait(stage.parity ^ 1U);  // at first it is
    const StepBarrier barrier = full(stage.at);
    const unsigned to = address_of(stage.at);
    barrier.expect(stage_bytes<tile_n>);
    barrier.bring(tile.a, tile.row, step * tile_k, to);
#pragma unroll
    for (int row = 0; row < tile_n; row += box_rows) {
      barrier.bring(tile.b, tile.column + row, step * tile_k,
                    to + static_cast<unsigned>((tile_m + row) * row_bytes));
    }
    stage.advance();
  }

  __device__ static void multiply(int steps, TileSums<tile_n>& sums, Cursor<stages>& stage) {
#pragma unroll
    for (float& sum : sums.at) {
      sum = 0;
    }
    fence_sums(sums.at);
    int last = 0;
    for (int step = 0; step < steps; ++step) {
      full(stage.at).wait(stage.parity);
      multiply_stage<tile_n>(sums.at, address_of(stage.at));
      if (step > 0) {
        wait_for_products<1>();
        leave(last);
      }
      last = stage.at;
      stage.advance();
    }
    wait_for_products<0>();
    fence_sums(sums.at);
    leave(last);
  }

  // This warpgroup needs the stage no more.
  __device__ static void leave(int stage) {
    if (threadIdx.x % 128 == 0) {
      empty(stage).arrive();
    }
    __syncwarp();  // wgmma is for whole warps
  }

  // wgmma's accumulators: a warp has 16 rows; of a block of 8 columns a lane has two in row
  // lane / 4 and two 8 rows below.
  __device__ static void store(const TileSums<tile_n>& sums) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    char* own = tile_memory() + stages_bytes<tile_n> + warp * 16 * row_apart;
#pragma unroll
    for (int pair = 0; pair < tile_n / 4; ++pair) {  // upper rows, lower rows of a block
      char* row = own + (lane / 4 + pair % 2 * 8) * row_apart;
      *reinterpret_cast<unsigned*>(row + pair / 2 * 16 + lane % 4 * 4) =
          packed_bf16(sums.at[pair * 2], sums.at[pair * 2 + 1]);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // read by the copy engine
  }

  __device__ static void copy_rows(int lane, bf16_bits* out, int pitch) {
    for (int row = lane; row < tile_m; row += 32) {
      copy_in_bulk(out + static_cast<std::size_t>(row) * static_cast<std::size_t>(pitch),
                   shared_address(tile_memory() + stages_bytes<tile_n>) +
                       static_cast<unsigned>(row) * row_apart,
                   static_cast<unsigned>(tile_n * sizeof(bf16_bits)));
    }
    end_group_of_copies();
  }
};

template <int tile_n, class Next, class Leaving>
__device__ inline void run_tiles(int pitch, Next next, const Leaving& leaving) {
  TilePipeline<tile_n> pipeline;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp == loading_warp) {
    pipeline.load(next);
  } else if (warp == sending_warp) {
    pipeline.send(pitch, leaving);
  } else {
    pipeline.make();
  }
}

}  // namespace calibration
