// RCCL has NCCL's interface, so that one source serves both.
#include <hip/hip_runtime.h>

#if defined(__HIP_PLATFORM_NVIDIA__)
#include <nccl.h>
#else
#include <rccl/rccl.h>
#endif

#include "check.h"
#include "collectives.h"

namespace calibration {
namespace {

void check_nccl(ncclResult_t status) {
  if (status != ncclSuccess) {
    throw std::runtime_error(std::string("library of collectives: ") + ncclGetErrorString(status));
  }
}

std::size_t size_of(Element element) { return element == Element::float32 ? 4 : 2; }

ncclDataType_t type_of(Element element) {
  return element == Element::float32 ? ncclFloat32 : ncclBfloat16;
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const Machine& machine, int channels);
  ~NcclCommunicator() override;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  void launch(const Exchange& exchange, const std::vector<hipStream_t>& streams) override;

 private:
  void launch_one(const Exchange& exchange, int gpu, hipStream_t stream);

  const Machine& machine_;
  std::vector<ncclComm_t> ranks_;
};

NcclCommunicator::NcclCommunicator(const Machine& machine, int channels)
    : machine_(machine), ranks_(machine.gpus().size()) {
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id));
  check_nccl(ncclGroupStart());
  for (int gpu = 0; gpu < machine.size(); ++gpu) {
    machine.gpu(gpu).use();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (channels != 0) {
      config.minCTAs = channels;
      config.maxCTAs = channels;
    }
    check_nccl(ncclCommInitRankConfig(&ranks_[static_cast<std::size_t>(gpu)], machine.size(), id,
                                      gpu, &config));
  }
  check_nccl(ncclGroupEnd());
}

NcclCommunicator::~NcclCommunicator() {
  for (ncclComm_t rank : ranks_) {
    static_cast<void>(ncclCommDestroy(rank));
  }
}

void NcclCommunicator::launch(const Exchange& exchange, const std::vector<hipStream_t>& streams) {
  check_nccl(ncclGroupStart());
  for (int gpu = 0; gpu < machine_.size(); ++gpu) {
    machine_.gpu(gpu).use();
    launch_one(exchange, gpu, streams[static_cast<std::size_t>(gpu)]);
  }
  check_nccl(ncclGroupEnd());
}

void NcclCommunicator::launch_one(const Exchange& exchange, int gpu, hipStream_t stream) {
  const void* from = exchange.from(gpu);
  void* to = exchange.to(gpu);
  const auto gpus = static_cast<std::size_t>(machine_.size());
  const std::size_t count = exchange.bytes / size_of(exchange.element);
  const ncclDataType_t type = type_of(exchange.element);
  ncclComm_t rank = ranks_[static_cast<std::size_t>(gpu)];
  switch (exchange.what) {
    case Collective::all_reduce:
      return check_nccl(ncclAllReduce(from, to, count, type, ncclSum, rank, stream));
    case Collective::all_gather:
      return check_nccl(ncclAllGather(from, to, count / gpus, type, rank, stream));
    case Collective::reduce_scatter:
      return check_nccl(ncclReduceScatter(from, to, count / gpus, type, ncclSum, rank, stream));
    case Collective::all_to_all:
      break;
  }
  const std::size_t part = exchange.bytes / gpus;
  for (int peer = 0; peer < machine_.size(); ++peer) {
    const std::size_t offset = part * static_cast<std::size_t>(peer);
    check_nccl(
        ncclSend(static_cast<const char*>(from) + offset, part, ncclInt8, peer, rank, stream));
    check_nccl(ncclRecv(static_cast<char*>(to) + offset, part, ncclInt8, peer, rank, stream));
  }
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(const Machine& machine, int channels) {
  return std::make_unique<NcclCommunicator>(machine, channels);
}

std::string collectives_library() {
  int version = 0;
  check_nccl(ncclGetVersion(&version));
#if defined(__HIP_PLATFORM_NVIDIA__)
  return "NCCL " + std::to_string(version);
#else
  return "RCCL " + std::to_string(version);
#endif
}

}  // namespace calibration
