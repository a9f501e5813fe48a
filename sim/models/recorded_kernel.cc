#include "sim/models/recorded_kernel.h"

#include <algorithm>
#include <cmath>

#include "sim/core/round_up.h"

namespace weft {
namespace {

// The largest share of the HBM's bandwidth: a recording that claims more (caches held the operands,
// or it is from a GPU with faster memory) is replayed at this share.
constexpr double kMostOfMemory = 0.97;

Bytes part(Bytes all, std::int64_t wgs) { return bytes(round_up(all.count(), wgs)); }

Bytes scaled_to(Bytes all, double share) {
  return bytes(std::llround(static_cast<double>(all.count()) * share));
}

// How long the HBM alone needs for the whole kernel.
double memory_seconds(const RecordedWork& work, const GpuSpec& gpu) {
  const Bytes more = surcharge_of_writes(gpu.memory, work.written.count());
  return transfer_seconds(static_cast<double>((work.read + work.written + more).count()),
                          gpu.memory.bandwidth);
}

double arithmetic_seconds(const RecordedWork& work, const GpuSpec& gpu) {
  // The peak is for 2-byte elements; matrix units do twice as many of 1 byte, half of 4 (TF32).
  const FlopRate peak = work.matrix ? gpu.bf16_matrix : gpu.fp32_vector;
  const double bytes_each = work.matrix ? static_cast<double>(work.element_bytes) / 2 : 1;
  return static_cast<double>(work.flops.count()) * bytes_each / static_cast<double>(peak.count());
}

}  // namespace

const char* name_of(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::gemm:
      return "gemm";
    case RecordedKind::attention:
      return "attention";
    case RecordedKind::norm:
      return "norm";
    case RecordedKind::elementwise:
      return "elementwise";
    case RecordedKind::embedding:
      return "embedding";
    case RecordedKind::copy:
      return "copy";
  }
  return "";
}

RecordedShape RecordedShape::of_rank(std::size_t rank) const {
  RecordedShape one = *this;
  one.by_rank.clear();
  if (by_rank.empty()) return one;
  one.time = by_rank[rank].time;
  one.wgs = by_rank[rank].wgs;
  if (by_rank[rank].work) one.work = by_rank[rank].work;
  return one;
}

bool same_kernel(const RecordedShape& a, const RecordedShape& b) {
  RecordedShape other = b;
  other.time = a.time;
  other.by_rank = a.by_rank;
  other.beside = a.beside;
  const auto as_large = [](const RecordedOfRank& x, const RecordedOfRank& y) {
    return x.wgs == y.wgs && x.work == y.work;
  };
  return a == other &&
         (a.by_rank.size() != b.by_rank.size() ||
          std::equal(a.by_rank.begin(), a.by_rank.end(), b.by_rank.begin(), as_large));
}

bool same_but_for_size(const RecordedShape& a, const RecordedShape& b) {
  if (a.work.has_value() != b.work.has_value()) return false;
  if (a.work &&
      (a.work->kind != b.work->kind || a.work->gemm.has_value() != b.work->gemm.has_value())) {
    return false;
  }
  if (a.work && a.work->gemm) return a.host == b.host;
  RecordedShape other = b;
  other.wgs = a.wgs;
  other.work = a.work;
  return same_kernel(a, other);
}

// A WG recorded on another GPU may need more than a CU here has; then it has a CU to itself.
WgShape recorded_wg(const RecordedShape& shape, const GpuSpec& gpu) {
  const WgShape wg{.threads = shape.threads,
                   .registers_per_thread = shape.registers_per_thread,
                   .lds = shape.lds,
                   .loads_in_flight = 1};
  if (resident(gpu, wg, {}) > 0) return wg;
  return {
      .threads = gpu.wave_size, .registers_per_thread = 1, .lds = gpu.cu.lds, .loads_in_flight = 1};
}

Work recorded_work(const RecordedShape& shape, const GpuSpec& gpu, Duration time, std::int64_t wgs,
                   std::int64_t rounds) {
  Work work;
  if (shape.work) work.flops = flops(round_up(shape.work->flops.count(), wgs));
  const Duration round = picoseconds(round_up(time.count(), rounds));
  const bool moves = shape.work && time > Duration{};
  const double share = moves ? memory_seconds(*shape.work, gpu) / to_seconds(time) : 0;
  if (shape.beside || share == 0) {
    work.fixed = round;
    return work;
  }
  const double kept = std::min(1.0, kMostOfMemory / share);
  const Bytes read = scaled_to(shape.work->read, kept);
  const Bytes written = scaled_to(shape.work->written, kept);
  work.traffic = part(read + written, wgs);
  work.written_more = surcharge_of_writes(gpu.memory, part(written, wgs).count());
  const double bend = gpu.memory.bend;
  const double alone = std::pow(1 - std::pow(share * kept, bend), 1 / bend);
  work.memory_alone = fraction_of(round, alone);
  return work;
}

OpKernel recorded_kernel(const RecordedShape& of_all, const GpuSpec& gpu, std::uint32_t rank) {
  const RecordedShape shape = of_all.of_rank(rank);
  OpKernel kernel;
  kernel.wg = recorded_wg(shape, gpu);
  kernel.persistent = true;
  if (shape.host) return kernel;  // nothing is computed
  const std::int64_t fit = resident_on_gpu(gpu, kernel.wg, {});
  const std::int64_t wgs = std::min(shape.wgs, fit);
  if (shape.beside) {
    kernel.wg = {
        .threads = gpu.wave_size, .registers_per_thread = 1, .lds = bytes(0), .loads_in_flight = 1};
  }
  kernel.works = {recorded_work(shape, gpu, shape.time, wgs, 1)};
  kernel.runs = {{.work = 0, .scale = Item::kUnit, .count = static_cast<std::uint32_t>(wgs)}};
  return kernel;
}

double roofline_seconds(const RecordedWork& work, const GpuSpec& gpu) {
  return std::max(arithmetic_seconds(work, gpu), memory_seconds(work, gpu));
}

double share_of_peak(const RecordedShape& shape, const GpuSpec& gpu) {
  if (!shape.work || shape.time.count() == 0) return 0;
  return roofline_seconds(*shape.work, gpu) / to_seconds(shape.time);
}

}  // namespace weft
