#pragma once

// The HIP names that the harness uses, as CUDA. Found in place of AMD's header when the sources
// are compiled with nvcc (`-x cu -I nvidia`). Only what is used is here.

#define __HIP_PLATFORM_NVIDIA__

#include <cuda_fp16.h>
#include <cuda_runtime.h>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipGraphNode_t = cudaGraphNode_t;
using hipFuncAttributes = cudaFuncAttributes;

constexpr hipError_t hipSuccess = cudaSuccess;
constexpr hipError_t hipErrorPeerAccessAlreadyEnabled = cudaErrorPeerAccessAlreadyEnabled;
constexpr cudaMemcpyKind hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
constexpr cudaMemcpyKind hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
constexpr cudaMemcpyKind hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
constexpr unsigned hipHostMallocMapped = cudaHostAllocMapped;
constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
constexpr unsigned hipDeviceMallocFinegrained = 0;  // peers see plain device memory coherently
constexpr cudaStreamCaptureMode hipStreamCaptureModeThreadLocal = cudaStreamCaptureModeThreadLocal;
constexpr cudaFuncAttribute hipFuncAttributeMaxDynamicSharedMemorySize =
    cudaFuncAttributeMaxDynamicSharedMemorySize;
constexpr cudaDeviceAttr hipDeviceAttributeClockRate = cudaDevAttrClockRate;
constexpr cudaDeviceAttr hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount;

#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipFree cudaFree
#define hipHostFree cudaFreeHost
#define hipMemset cudaMemset
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipGraphLaunch cudaGraphLaunch
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipEventCreate cudaEventCreate
#define hipEventRecord cudaEventRecord
#define hipEventElapsedTime cudaEventElapsedTime
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor

// What differs by more than the name.

struct hipDeviceProp_t : cudaDeviceProp {
  size_t maxSharedMemoryPerMultiProcessor = 0;
  const char* gcnArchName = "";
};

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  const hipError_t status = cudaGetDeviceProperties(properties, device);
  properties->maxSharedMemoryPerMultiProcessor = properties->sharedMemPerMultiprocessor;
  return status;
}

template <class T>
hipError_t hipMalloc(T** memory, size_t bytes) {
  return cudaMalloc(memory, bytes);
}

inline hipError_t hipExtMallocWithFlags(void** memory, size_t bytes, unsigned /*flags*/) {
  return cudaMalloc(memory, bytes);
}

inline hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned flags) {
  return cudaHostAlloc(memory, bytes, flags);
}

inline hipError_t hipHostGetDevicePointer(void** on_device, void* on_host, unsigned flags) {
  return cudaHostGetDevicePointer(on_device, on_host, flags);
}

inline hipError_t hipFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}

inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel) {
  return cudaFuncGetAttributes(attributes, kernel);
}

inline hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                                      hipGraphNode_t* /*bad*/, char* /*log*/, size_t /*size*/) {
  return cudaGraphInstantiate(executable, graph, 0);
}

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// At system scope these become ld.acquire.sys, st.release.sys and atom.acq_rel.sys: no fence apart.
#define __HIP_MEMORY_SCOPE_SYSTEM __NV_THREAD_SCOPE_SYSTEM
#define __HIP_MEMORY_SCOPE_AGENT __NV_THREAD_SCOPE_DEVICE
#define __hip_atomic_load(from, order, scope) __nv_atomic_load_n(from, order, scope)
#define __hip_atomic_store(to, value, order, scope) __nv_atomic_store_n(to, value, order, scope)
#define __hip_atomic_fetch_add(to, value, order, scope) \
  __nv_atomic_fetch_add(to, value, order, scope)
// CUDA has a function of this name, for older GPUs: its headers come first.
#define __shfl_xor(value, lanes) __shfl_xor_sync(0xffffffffU, value, lanes)
