#include <hip/hip_runtime.h>
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace emulation {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;
constexpr unsigned resident_wgs = 64;  // of a kernel

// One WG: its threads are fibers that run in turn until each has ended.
class Wg {
 public:
  Wg(dim3 threads, dim3 blocks, std::size_t shared)
      : threads_(threads.x),
        contexts_(threads.x),
        waits_(threads.x),
        ended_(threads.x),
        exchanged_(threads.x),
        stacks_(new char[stack_bytes * threads.x]),
        shared_(std::aligned_alloc(128, (shared + 255) / 128 * 128)) {
    place_.threads = threads;
    place_.blocks = blocks;
  }
  ~Wg() { std::free(shared_); }
  Wg(const Wg&) = delete;
  Wg& operator=(const Wg&) = delete;

  void run(unsigned block, const std::function<void()>& kernel);
  void yield() { swapcontext(&contexts_[current_], &scheduler_); }
  void barrier() {
    waits_[current_] = true;
    ++arrived_;
    do {
      yield();
    } while (waits_[current_]);
  }
  float exchange(float value, int lanes) {
    exchanged_[current_] = value;
    barrier();  // all warps of our kernels exchange together
    const float got = exchanged_[current_ ^ static_cast<unsigned>(lanes)];
    barrier();
    return got;
  }
  const Place& place() const { return place_; }
  void* shared() const { return shared_; }

 private:
  static void start();

  unsigned threads_;
  std::vector<ucontext_t> contexts_;
  std::vector<char> waits_;
  std::vector<char> ended_;
  std::vector<float> exchanged_;
  std::unique_ptr<char[]> stacks_;
  void* shared_;
  ucontext_t scheduler_{};
  Place place_;
  unsigned current_ = 0;
  unsigned arrived_ = 0;
  unsigned running_ = 0;
  const std::function<void()>* kernel_ = nullptr;
};

thread_local Wg* here = nullptr;

void Wg::start() {
  (*here->kernel_)();
  here->ended_[here->current_] = true;
  --here->running_;
  here->yield();
}

void Wg::run(unsigned block, const std::function<void()>& kernel) {
  here = this;
  kernel_ = &kernel;
  place_.block = dim3(block);
  running_ = threads_;
  arrived_ = 0;
  for (unsigned t = 0; t < threads_; ++t) {
    ended_[t] = waits_[t] = false;
    getcontext(&contexts_[t]);
    contexts_[t].uc_stack.ss_sp = stacks_.get() + t * stack_bytes;
    contexts_[t].uc_stack.ss_size = stack_bytes;
    contexts_[t].uc_link = nullptr;
    makecontext(&contexts_[t], &Wg::start, 0);
  }
  while (running_ > 0) {
    for (current_ = 0; current_ < threads_; ++current_) {
      if (!ended_[current_] && !waits_[current_]) {
        place_.thread = dim3(current_);
        swapcontext(&scheduler_, &contexts_[current_]);
      }
    }
    if (arrived_ == running_ && running_ > 0) {
      arrived_ = 0;
      waits_.assign(threads_, false);
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool busy = false;
  Graph* capture = nullptr;
  std::thread thread;

  Stream() : thread([this] { work(); }) { thread.detach(); }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return !queue.empty(); });
      const std::function<void()> next = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      next();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
  void drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return queue.empty() && !busy; });
  }
};

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned long recorded = 0;
  unsigned long done = 0;
  std::chrono::steady_clock::time_point at;
};

struct Graph {
  std::vector<std::function<void()>> nodes;
};

namespace {

std::vector<Stream*>& all_streams() {
  static std::vector<Stream*> streams;
  return streams;
}

}  // namespace

const Place& place() { return here->place(); }
void yield() {
  here->yield();
  std::this_thread::yield();
}
void barrier() { here->barrier(); }
float exchange(float value, int lanes) { return here->exchange(value, lanes); }
void* dynamic_shared() { return here->shared(); }

void enqueue(Stream* stream, std::function<void()> work) {
  if (stream->capture != nullptr) {
    stream->capture->nodes.push_back(std::move(work));
    return;
  }
  {
    const std::lock_guard lock(stream->mutex);
    stream->queue.push_back(std::move(work));
  }
  stream->changed.notify_all();
}

void launch(Stream* stream, dim3 blocks, dim3 threads, std::size_t shared,
            std::function<void()> kernel) {
  enqueue(stream, [=, kernel = std::move(kernel)] {
    std::atomic<unsigned> next{0};
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < std::min(blocks.x, resident_wgs); ++w) {
      workers.emplace_back([&] {
        Wg wg(threads, blocks, shared);
        for (unsigned block = next++; block < blocks.x; block = next++) {
          wg.run(block, kernel);
        }
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
  });
}

}  // namespace emulation

hipError_t hipGetDeviceCount(int* count) {
  const char* asked = std::getenv("EMULATED_GPUS");
  *count = asked == nullptr ? 4 : std::atoi(asked);
  return hipSuccess;
}

hipError_t hipExtMallocWithFlags(void** memory, std::size_t bytes, unsigned /*flags*/) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return hipSuccess;
}

hipError_t hipFree(void* memory) {
  std::free(memory);
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  for (emulation::Stream* stream : emulation::all_streams()) {
    stream->drain();
  }
  return hipSuccess;
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  *stream = new emulation::Stream;
  emulation::all_streams().push_back(*stream);
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  stream->drain();
  return hipSuccess;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned /*flags*/) {
  const std::lock_guard lock(event->mutex);
  emulation::enqueue(stream, [event, wanted = event->recorded] {
    std::unique_lock waiting(event->mutex);
    event->changed.wait(waiting, [&] { return event->done >= wanted; });
  });
  return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) {
  *event = new emulation::Event;
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(event->mutex);
  emulation::enqueue(stream, [event, number = ++event->recorded] {
    {
      const std::lock_guard done(event->mutex);
      event->done = number;
      event->at = std::chrono::steady_clock::now();
    }
    event->changed.notify_all();
  });
  return hipSuccess;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  *milliseconds = std::chrono::duration<float, std::milli>(stop->at - start->at).count();
  return hipSuccess;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode /*mode*/) {
  stream->capture = new emulation::Graph;
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  *graph = stream->capture;
  stream->capture = nullptr;
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) {
  for (const std::function<void()>& node : graph->nodes) {
    emulation::enqueue(stream, node);
  }
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete graph;
  return hipSuccess;
}
