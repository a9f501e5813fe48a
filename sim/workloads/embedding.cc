#include "sim/workloads/embedding.h"

#include <algorithm>
#include <cmath>

#include "sim/core/round_up.h"

namespace weft {
namespace {

// How a WG goes through its rows. A row is read by `lanes` threads; the WG works on as many pooled
// rows at once as it has threads for, and a wave waits for the rows of all its threads.
struct RowSteps {
  RowSteps(const EmbeddingWork& bag, const GpuSpec& gpu)
      : row_bytes(bag.dim * size_of(bag.dtype).count()),
        lanes(round_up(row_bytes, bag.load.count())),
        rows_at_once(std::max<std::int64_t>(1, bag.wg.threads / lanes)),
        rounds(round_up(bag.rows_per_wg, rows_at_once)),
        in_flight(
            std::min<double>(bag.pooling, static_cast<double>(bag.wg.loads_in_flight) / bag.chain)),
        rows_of_a_wave(static_cast<double>(std::max<std::int64_t>(
            1, std::min<std::int64_t>(std::min(gpu.wave_size, bag.wg.threads) / lanes,
                                      bag.rows_per_wg)))) {
    const std::int64_t passes = round_up(lanes, bag.wg.threads);
    const std::int64_t of_a_row =
        round_up(std::int64_t{bag.pooling} * bag.chain, bag.wg.loads_in_flight);
    waits = rounds * passes * of_a_row;
    const std::int64_t indices = std::int64_t{bag.pooling} * bag.index_bytes;
    const std::int64_t read = bag.index_read.count();
    index_reads =
        std::min(rounds * round_up(indices, read), round_up(bag.rows_per_wg * indices, read));
  }

  std::int64_t row_bytes;
  std::int64_t lanes;
  std::int64_t rows_at_once;
  std::int64_t rounds;
  double in_flight;              // rows per thread
  double rows_of_a_wave;         // read by a wave at once
  std::int64_t waits = 0;        // successive waits for rows in flight
  std::int64_t index_reads = 0;  // reads of indices, each waited for before the rows that they name
};

Duration alone(const RowSteps& steps, const GpuSpec& gpu, const RowsFound& found) {
  return gather_latency(gpu, steps.in_flight * steps.rows_of_a_wave, found) * steps.waits +
         gpu.gather.latency * steps.index_reads;
}

std::int64_t wgs_of(const EmbeddingWork& bag) {
  return bag.batch / bag.rows_per_wg * bag.tables_per_gpu;
}

GatherWalk walk_of(const EmbeddingWork& bag, const GpuSpec& gpu, const KernelVersion& version) {
  const int on_cu = resident(gpu, bag.wg, version);
  const RowSteps steps(bag, gpu);
  GatherWalk walk;
  walk.walk = bag.walk;
  walk.tables = bag.tables_per_gpu;
  walk.rows_per_table = bag.rows_per_table;
  walk.zipf = bag.zipf;
  walk.row_bytes = steps.row_bytes;
  walk.wgs_of_a_table = bag.batch / bag.rows_per_wg;
  walk.wgs = wgs_of(bag);
  walk.rows_per_wg = bag.rows_per_wg;
  walk.rows_at_once = steps.rows_at_once;
  walk.pooling = bag.pooling;
  walk.in_flight = steps.in_flight;
  walk.on_cu = on_cu;
  walk.l2_is_warm = bag.l2_is_warm;
  walk.fences = version.fences && gpu.gather.l1.count() > 0;
  const std::int64_t at_once = std::min(walk.wgs, std::int64_t{on_cu} * gpu.cus);
  const double asked = asked_rate(static_cast<double>(bag.rows_per_wg) * bag.pooling *
                                      static_cast<double>(steps.row_bytes * at_once),
                                  alone(steps, gpu, {}));
  const auto bandwidth = static_cast<double>(gpu.memory.bandwidth.count());
  walk.unevenness = unevenness(gpu, asked / bandwidth);
  if (version.beside.count() > 0) {
    walk.streamed = static_cast<double>(version.beside.count()) / std::min(asked, bandwidth);
  }
  return walk;
}

// The pooled rows, which pooling writes, become the gradients, which are read.
void turn_round(Grid& grid) {
  grid.name = "embedding_backward";
  grid.input_bytes = grid.unit * grid.result_bytes;
}

}  // namespace

Work embedding_work(const EmbeddingWork& bag, const GpuSpec& gpu, const BagRun& run) {
  const RowSteps steps(bag, gpu);
  const std::int64_t lookups = std::int64_t{bag.rows_per_wg} * bag.pooling;
  const double missed = 1 - run.found.in_l1 - run.found.in_l2 - run.found.in_side_cache;
  Work work;
  work.traffic = bytes(std::llround(static_cast<double>(lookups * steps.row_bytes) * missed) +
                       lookups * bag.index_bytes);
  if (run.result == Result::written_here) {
    add_writes(work, gpu, bag.rows_per_wg * steps.row_bytes);
  }
  const double through_l2 = static_cast<double>(lookups * steps.row_bytes) * (1 - run.found.in_l1);
  work.memory_alone = shared_l2_time(gpu, alone(steps, gpu, run.found), std::llround(through_l2),
                                     wgs_of(bag), std::int64_t{run.wgs_on_cu} * gpu.cus);
  work.memory_alone = longer(work.memory_alone, memory_time(work, gpu));
  work.flops = flops(lookups * bag.dim);
  // Zero copy: each round's rows are stored when it is done. More than 8 parts make no difference.
  if (run.result == Result::stored_at_peer) {
    work.shares = static_cast<std::uint32_t>(std::min<std::int64_t>(steps.rounds, 8));
  }
  // These are adds, so half of the peak, which counts multiply-adds; other instructions take as
  // long. A WG of few waves uses part of a CU.
  const Flops issued = std::max(work.flops, flops(lookups * steps.lanes * bag.instructions));
  work.arithmetic_share = share_of_cu(gpu, bag.wg.threads);
  work.arithmetic_alone =
      arithmetic_time(flops(issued.count() * 2), gpu.fp32_vector, gpu, work.arithmetic_share);
  // If arithmetic ends before memory even with all residents sharing the CU, it is never the limit.
  if (work.arithmetic_alone * run.wgs_on_cu <= work.memory_alone) work.arithmetic_alone = {};
  return work;
}

Grid embedding_shape(const EmbeddingWork& work, std::uint32_t gpus) {
  Grid grid;
  grid.name = "embedding";
  grid.gpus = gpus;
  grid.unit = static_cast<std::uint32_t>(work.batch / grid.gpus / work.rows_per_wg);
  grid.per_peer = grid.unit * static_cast<std::uint32_t>(work.tables_per_gpu);
  grid.in_a_row = grid.unit;
  grid.kernel_a_row = work.kernel_per_table;
  grid.result_bytes = std::int64_t{work.rows_per_wg} * work.dim * size_of(work.dtype).count();
  grid.wg = work.wg;
  grid.jitter = work.jitter;
  grid.stream = "embedding/jitter";
  return grid;
}

Grid embedding_grid(const EmbeddingWork& bag, const GpuSpec& gpu, std::uint32_t gpus,
                    const KernelVersion& version) {
  EmbeddingWork work = bag;
  if (version.chain > 0) work.chain = version.chain;
  BagRun run;
  run.wgs_on_cu = resident(gpu, work.wg, version);
  run.found = find_rows(walk_of(work, gpu, version), gpu);
  Grid grid = embedding_shape(work, gpus);
  grid.written = embedding_work(work, gpu, run);
  run.result = Result::stored_at_peer;
  grid.stored = embedding_work(work, gpu, run);
  return grid;
}

// A WG adds the gradient of each of its pooled rows to the rows that were pooled: it reads the
// gradients once, and reads and writes the rows that were pooled. Writes are posted.
Grid embedding_backward_shape(const EmbeddingWork& work, std::uint32_t gpus) {
  Grid grid = embedding_shape(work, gpus);
  turn_round(grid);
  return grid;
}

Grid embedding_backward_grid(const EmbeddingWork& work, const GpuSpec& gpu, std::uint32_t gpus,
                             const KernelVersion& version) {
  Grid grid = embedding_grid(work, gpu, gpus, version);
  const std::int64_t row_bytes = work.dim * size_of(work.dtype).count();
  turn_round(grid);
  grid.written = grid.stored;
  grid.written.shares = 1;
  grid.written.traffic += bytes(work.rows_per_wg * row_bytes);
  add_writes(grid.written, gpu, std::int64_t{work.rows_per_wg} * work.pooling * row_bytes);
  grid.written.memory_alone = longer(grid.written.memory_alone, memory_time(grid.written, gpu));
  grid.stored = grid.written;
  return grid;
}

namespace {

// Of `lookups` in a table of which row x has the weight (x + 1)^-zipf, at least: a range of rows
// counts as if all were asked for as seldom as its last, of weights whose sum is taken too large.
double rows_looked_up(double rows, double zipf, double lookups) {
  const double last = std::log(rows);
  const double tail = zipf == 1 ? last : (std::pow(rows, 1 - zipf) - 1) / (1 - zipf);
  const double weights = zipf == 0 ? rows : 1 + tail;
  constexpr double kRange = 1.05;
  double found = 0;
  for (double first = 1; first <= rows;) {
    const double next = zipf == 0 ? rows + 1 : std::min(rows + 1, std::ceil(first * kRange + 1e-9));
    const double share = std::pow(next - 1, -zipf) / weights;
    found += (next - first) * -std::expm1(lookups * std::log1p(-std::min(share, 1 - 1e-12)));
    first = next;
  }
  return found;
}

}  // namespace

double least_traffic(const EmbeddingWork& work, bool backward) {
  constexpr double kDeviations = 4;
  const double row_bytes = work.dim * static_cast<double>(size_of(work.dtype).count());
  const auto pooled = static_cast<double>(work.batch);  // of a table
  const double lookups = pooled * work.pooling;
  const double rows = work.l2_is_warm ? 0
                                      : rows_looked_up(static_cast<double>(work.rows_per_table),
                                                       work.zipf, lookups);
  const double seen = std::max(0.0, rows - kDeviations * std::sqrt(rows));
  double of_a_table = seen * row_bytes + lookups * work.index_bytes;
  if (backward) of_a_table += (pooled + lookups) * row_bytes;
  // WGs' work varies evenly, and with it their sum.
  const double wgs = pooled / work.rows_per_wg * work.tables_per_gpu;
  const double less = kDeviations * work.jitter / std::sqrt(3 * wgs);
  return of_a_table * work.tables_per_gpu * std::max(0.0, 1 - less);
}

}  // namespace weft
