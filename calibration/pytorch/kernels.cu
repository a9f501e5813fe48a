// Kernels whose work-groups (WGs) are known: empty ones, gathers of random rows, lookups pooled as a
// table-batched kernel does, and WGs that hold SMs beside other work. Plain C entries for ctypes.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace {

__device__ std::uint64_t now_ns() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__device__ uint4 both(uint4 a, uint4 b) { return {a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w}; }

__global__ void empty() {}

// Each group of `lanes` threads reads rows, kInFlight at a time, whose numbers it has read before.
template <int kInFlight>
__global__ void gather(const uint4* table, const std::int32_t* rows, uint4* out, int lanes,
                       int rows_of_a_group) {
  const int groups = blockDim.x / lanes;
  const int lane = threadIdx.x % lanes;
  const int group = blockIdx.x * groups + threadIdx.x / lanes;
  const std::int32_t* mine = rows + std::int64_t{group} * rows_of_a_group;
  uint4 sum = {0, 0, 0, 0};
#pragma unroll 1
  for (int i = 0; i < rows_of_a_group; i += kInFlight) {
    uint4 read[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      read[j] = __ldg(table + std::int64_t{__ldg(mine + i + j)} * lanes + lane);
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) sum = both(sum, read[j]);
  }
  out[std::int64_t{group} * lanes + lane] = sum;
}

// One warp for a pooled row of 128 halves, all tables in one grid, 8 B of a row per lane; the lanes
// read 32 indices together and hand them round: how table-batched kernels are written.
template <int kInFlight>
__global__ void pooled(const uint2* tables, const std::int64_t* indices, uint2* out, int samples,
                       int pooling, std::int64_t rows_of_a_table) {
  const int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int table = warp / samples;
  const uint2* own = tables + table * rows_of_a_table * 32;
  const std::int64_t* mine = indices + std::int64_t{warp} * pooling;
  float sum[4] = {0, 0, 0, 0};
  for (int first = 0; first < pooling; first += 32) {
    const int here = min(32, pooling - first);
    const std::int64_t row = lane < here ? mine[first + lane] : 0;
#pragma unroll 1
    for (int i = 0; i < here; i += kInFlight) {
      uint2 read[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        const std::int64_t r = __shfl_sync(0xffffffffu, row, (i + j) % 32);
        read[j] = i + j < here ? __ldg(own + r * 32 + lane) : make_uint2(0, 0);
      }
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&read[j].x));
        const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&read[j].y));
        sum[0] += low.x;
        sum[1] += low.y;
        sum[2] += high.x;
        sum[3] += high.y;
      }
    }
  }
  uint2 result;
  *reinterpret_cast<__half2*>(&result.x) = __floats2half2_rn(sum[0], sum[1]);
  *reinterpret_cast<__half2*>(&result.y) = __floats2half2_rn(sum[2], sum[3]);
  out[std::int64_t{warp} * 32 + lane] = result;
}

// Holds its SM for a time. Copies 32 KiB at a time, one each `interval_ns`, or only polls a word.
__global__ void __launch_bounds__(512, 1)
    hold(const uint4* from, uint4* to, std::int64_t bytes, std::int64_t interval_ns,
         std::int64_t hold_ns, const volatile int* word, std::uint64_t* moved, int* on_sm) {
  const std::int64_t chunk = 512 * 4;  // uint4
  const std::int64_t chunks = bytes / 16 / chunk;
  const std::uint64_t begin = now_ns();
  if (threadIdx.x == 0) {
    std::uint32_t sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    atomicAdd(on_sm + sm, 1);
  }
  std::uint64_t turn = 0;
  for (std::uint64_t now = begin; now < begin + hold_ns; now = now_ns()) {
    if (interval_ns > 0 && now >= begin + turn * interval_ns) {
      const std::int64_t at = (turn * gridDim.x + blockIdx.x) % chunks * chunk + threadIdx.x;
      uint4 read[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) read[j] = from[at + j * 512];
#pragma unroll
      for (int j = 0; j < 4; ++j) to[at + j * 512] = read[j];
      ++turn;
    } else if (*word == 1) {
      break;
    }
  }
  if (threadIdx.x == 0) moved[blockIdx.x] = turn * chunk * 16;
}

// Each SM's clock and the time.
__global__ void stamp(std::uint64_t* of_sms) {
  if (threadIdx.x != 0) return;
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  of_sms[2 * sm] = clock64();
  of_sms[2 * sm + 1] = now_ns();
}

}  // namespace

extern "C" {

int run_empty(int wgs, cudaStream_t stream) {
  empty<<<wgs, 256, 0, stream>>>();
  return cudaGetLastError();
}

int run_gather(const void* table, const void* rows, void* out, int row_bytes, int wgs,
               int rows_of_a_group, int in_flight, cudaStream_t stream) {
  const auto* t = static_cast<const uint4*>(table);
  const auto* r = static_cast<const std::int32_t*>(rows);
  auto* o = static_cast<uint4*>(out);
  const int lanes = row_bytes / 16;
  if (in_flight == 1) gather<1><<<wgs, 256, 0, stream>>>(t, r, o, lanes, rows_of_a_group);
  if (in_flight == 4) gather<4><<<wgs, 256, 0, stream>>>(t, r, o, lanes, rows_of_a_group);
  if (in_flight == 8) gather<8><<<wgs, 256, 0, stream>>>(t, r, o, lanes, rows_of_a_group);
  return cudaGetLastError();
}

int run_pooled(const void* tables, const void* indices, void* out, int count, int samples, int pooling,
               std::int64_t rows_of_a_table, int in_flight, cudaStream_t stream) {
  const auto* t = static_cast<const uint2*>(tables);
  const auto* i = static_cast<const std::int64_t*>(indices);
  auto* o = static_cast<uint2*>(out);
  const int wgs = count * samples / 8;
  if (in_flight == 1) pooled<1><<<wgs, 256, 0, stream>>>(t, i, o, samples, pooling, rows_of_a_table);
  if (in_flight == 4) pooled<4><<<wgs, 256, 0, stream>>>(t, i, o, samples, pooling, rows_of_a_table);
  if (in_flight == 8) pooled<8><<<wgs, 256, 0, stream>>>(t, i, o, samples, pooling, rows_of_a_table);
  return cudaGetLastError();
}

// `cluster` WGs at a time are placed in one group of SMs, as NCCL places four.
int run_hold(const void* from, void* to, std::int64_t bytes, std::int64_t interval_ns,
             std::int64_t hold_ns, const void* word, void* moved, void* on_sm, int wgs, int cluster,
             int shared_bytes, cudaStream_t stream) {
  const int refused =
      cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (refused != cudaSuccess) return refused;
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(wgs);
  config.blockDim = dim3(512);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  const int launched = cudaLaunchKernelEx(
      &config, hold, static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes, interval_ns,
      hold_ns, static_cast<const volatile int*>(word), static_cast<std::uint64_t*>(moved),
      static_cast<int*>(on_sm));
  return launched != cudaSuccess ? launched : cudaGetLastError();
}

int run_stamp(void* of_sms, int wgs, cudaStream_t stream) {
  stamp<<<wgs, 32, 0, stream>>>(static_cast<std::uint64_t*>(of_sms));
  return cudaGetLastError();
}
}
