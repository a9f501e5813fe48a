#pragma once

// The HIP that the harness uses, emulated: the threads of a WG are fibers of one thread of this
// process, streams are queues with a thread each, and all GPUs share this process' memory. For
// tests of the harness' logic (indices, flags, orders, waiting), never for times.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)

struct uint4 {
  unsigned x, y, z, w;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct dim3 {
  explicit dim3(unsigned count = 1) : x(count) {}
  unsigned x;
};

namespace emulation {

struct Stream;
struct Event;
struct Graph;

struct Place {  // of the thread that runs
  dim3 thread, block, threads, blocks;
};
const Place& place();
void yield();    // lets the other threads of the WG run
void barrier();  // of the WG
float exchange(float value, int lanes);
void* dynamic_shared();
void launch(Stream* stream, dim3 blocks, dim3 threads, std::size_t shared,
            std::function<void()> kernel);
void enqueue(Stream* stream, std::function<void()> work);

}  // namespace emulation

#define threadIdx (emulation::place().thread)
#define blockIdx (emulation::place().block)
#define blockDim (emulation::place().threads)
#define gridDim (emulation::place().blocks)
constexpr int warpSize = 32;

inline void __syncthreads() { emulation::barrier(); }
inline long long clock64() {  // no time: it only goes on
  static thread_local long long ticks = 0;
  return ++ticks;
}
inline float __shfl_xor(float value, int lanes) { return emulation::exchange(value, lanes); }
inline unsigned atomicAdd(unsigned* to, unsigned value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
#define __hip_atomic_load(from, order, scope) __atomic_load_n(from, order)
#define __hip_atomic_store(to, value, order, scope) __atomic_store_n(to, value, order)
#define __hip_atomic_fetch_add(to, value, order, scope) __atomic_fetch_add(to, value, order)
#define HIP_DYNAMIC_SHARED(type, name) type* name = static_cast<type*>(emulation::dynamic_shared());
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  emulation::launch(stream, grid, block, shared, [=] { kernel(__VA_ARGS__); })

enum hipError_t { hipSuccess, hipErrorInvalidValue, hipErrorPeerAccessAlreadyEnabled };
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice };
enum hipDeviceAttribute_t { hipDeviceAttributeClockRate };
enum hipStreamCaptureMode { hipStreamCaptureModeThreadLocal };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize };
using hipStream_t = emulation::Stream*;
using hipEvent_t = emulation::Event*;
using hipGraph_t = emulation::Graph*;
using hipGraphExec_t = emulation::Graph*;
using hipGraphNode_t = void*;
constexpr unsigned hipHostMallocMapped = 0;
constexpr unsigned hipHostMallocPortable = 0;
constexpr unsigned hipStreamNonBlocking = 0;
constexpr unsigned hipDeviceMallocFinegrained = 0;

struct hipDeviceProp_t {
  char name[32] = "emulation";
  int multiProcessorCount = 6;
  int warpSize = ::warpSize;
  int l2CacheSize = 0;
  std::size_t totalGlobalMem = 0;
  std::size_t sharedMemPerBlock = 65536;
  std::size_t maxSharedMemoryPerMultiProcessor = 131072;
};

inline const char* hipGetErrorString(hipError_t status) {
  return status == hipSuccess ? "no error" : "error of the emulation";
}
inline hipError_t hipGetLastError() { return hipSuccess; }
hipError_t hipGetDeviceCount(int* count);
inline hipError_t hipSetDevice(int) { return hipSuccess; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  *properties = {};
  return hipSuccess;
}
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t, int) {
  *value = 0;
  return hipSuccess;
}
inline hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return hipSuccess;
}
inline hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return hipSuccess; }
inline hipError_t hipDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return hipSuccess;
}
inline hipError_t hipDriverGetVersion(int* version) {
  *version = 0;
  return hipSuccess;
}
inline hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipExtMallocWithFlags(void** memory, std::size_t bytes, unsigned flags);
inline hipError_t hipMalloc(void** memory, std::size_t bytes) {
  return hipExtMallocWithFlags(memory, bytes, 0);
}
inline hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned flags) {
  return hipExtMallocWithFlags(memory, bytes, flags);
}
hipError_t hipFree(void* memory);
inline hipError_t hipHostFree(void* memory) { return hipFree(memory); }
inline hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return hipSuccess;
}
inline hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return hipSuccess;
}
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind) {
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
inline hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind,
                                 hipStream_t stream) {
  emulation::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return hipSuccess;
}

hipError_t hipDeviceSynchronize();  // waits for the streams of all GPUs
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
inline hipError_t hipGraphExecDestroy(hipGraphExec_t) { return hipSuccess; }
inline hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, hipGraphNode_t*,
                                      char*, std::size_t) {
  *executable = graph;
  return hipSuccess;
}
inline hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int) { return hipSuccess; }
struct hipFuncAttributes {
  int numRegs = 0;
  std::size_t sharedSizeBytes = 0;
  std::size_t localSizeBytes = 0;
};
inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void*) {
  *attributes = {};
  return hipSuccess;
}
// As if shared memory alone set the limit.
template <class Kernel>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* count, Kernel, int,
                                                        std::size_t shared) {
  *count = shared == 0 ? 8 : static_cast<int>(131072 / shared);
  return hipSuccess;
}
