// DualPipeV: forwards and backwards of different microbatches overlap.
#include <deque>
#include <utility>

#include "sim/pipeline/schedules.h"

namespace weft::pipelines {
namespace {

// Writes the steps of one stage, microbatches in order.
class Writer {
 public:
  explicit Writer(int stage) : stage_(stage) {}

  void forward(int part) { add(Kind::forward, part, forwards_[part]++); }
  void backward(int part) { add(Kind::backward, part, backwards_[part]++); }
  void input_gradient(int part) {
    late_.push_back({Kind::weight_gradient, stage_, backwards_[part], part});
    add(Kind::input_gradient, part, backwards_[part]++);
  }
  // Of those that were left for later, the first.
  void weight_gradient() {
    steps_.push_back(late_.front());
    late_.pop_front();
  }
  void overlapped(int forward_part, int backward_part) {
    forward(forward_part);
    steps_.back().overlaps_next = true;
    backward(backward_part);
  }
  Steps& steps() { return steps_; }

 private:
  void add(Kind kind, int part, int microbatch) {
    steps_.push_back({kind, stage_, microbatch, part});
  }

  int stage_;
  int forwards_[2] = {};
  int backwards_[2] = {};
  std::deque<PipelineStep> late_;
  Steps steps_;
};

}  // namespace

// DeepSeek's DualPipe (arXiv:2412.19437, Sec. 3.2.1) cut in half (github.com/deepseek-ai/DualPipe,
// dualpipev.py; torch.distributed.pipelining.ScheduleDualPipeV does the same). Bubbles take
// (p - 1) (F&B + B - 3 W), where F&B is a forward and a backward that overlap and B a whole
// backward; a stage keeps at most 2 p + 1 microbatches of its half-sized parts. Stages behind have
// fewer steps before the first pair, and more pairs.
Steps dualpipe_v(const PipelineShape& shape, int stage) {
  Writer out(stage);
  const int behind = shape.stages - stage - 1;
  for (int i = 0; i < 2 * behind; ++i) out.forward(0);
  for (int i = 0; i <= stage; ++i) {
    out.forward(0);
    out.forward(1);
  }
  for (int i = 0; i < behind; ++i) {
    out.input_gradient(1);
    out.weight_gradient();
    out.forward(1);
  }
  for (int i = 0; i <= shape.microbatches - 2 * shape.stages + stage; ++i) {
    if (i == 0 && behind == 0) {  // one after the other: the stage before waits for this forward
      out.forward(0);
      out.backward(1);
    } else {
      out.overlapped(0, 1);
    }
    out.overlapped(1, 0);
  }
  for (int i = 0; i < behind; ++i) {
    out.backward(1);
    out.overlapped(1, 0);
  }
  // What is left of the backwards: gradients of weights of their second half come last.
  for (int i = 0; i < 2 * (stage + 1); ++i) {
    const int part = i % 2 == 0 ? 1 : 0;
    if (i <= stage) {
      out.backward(part);
    } else {
      out.input_gradient(part);
    }
  }
  for (int i = 0; i < behind; ++i) {
    out.weight_gradient();
    out.input_gradient(0);
  }
  for (int i = 0; i <= stage; ++i) out.weight_gradient();
  return std::move(out.steps());
}

}  // namespace weft::pipelines
