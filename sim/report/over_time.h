// over_time.csv: how busy CUs, HBM and links are in each of a few hundred intervals of a mode.
#pragma once

#include <string>
#include <vector>

#include "sim/report/fields.h"
#include "sim/report/run_report.h"

namespace weft {

// A recorded mode: shares of an interval, from 0 to 1. Means, except for a single GPU or link.
class OverTime {
 public:
  OverTime(const RunReport& report, const RunRecording& recording)
      : gpu_(report.cluster.spec.gpu),
        gpus_(report.cluster.gpus()),
        turns_(gpus_ / report.simulated_gpus),
        recording_(recording) {}

  [[nodiscard]] std::size_t size() const { return recording_.amounts.size(); }
  [[nodiscard]] double cu_busy(std::size_t interval) const;
  [[nodiscard]] double cu_busy_of(std::size_t interval, std::uint32_t gpu) const;
  [[nodiscard]] double hbm_busy(std::size_t interval) const;
  [[nodiscard]] double hbm_busy_of(std::size_t interval, std::uint32_t gpu) const;
  [[nodiscard]] double links_busy(std::size_t interval) const;
  [[nodiscard]] double class_busy(std::size_t interval, std::size_t link_class) const;
  [[nodiscard]] double link_busy(std::size_t interval, std::size_t link) const;

 private:
  [[nodiscard]] double length_ps(std::size_t interval) const;
  [[nodiscard]] double amount(std::size_t interval, std::size_t track) const;
  [[nodiscard]] double cu_share(std::size_t interval, std::size_t track, double gpus) const;
  [[nodiscard]] double hbm_share(std::size_t interval, std::size_t track, double gpus) const;

  const GpuSpec& gpu_;
  std::uint32_t gpus_;
  std::uint32_t turns_;  // for how many each GPU that was recorded stands
  const RunRecording& recording_;
};

std::string over_time_csv(const RunReport& report);
std::vector<Field> over_time_fields();

}  // namespace weft
