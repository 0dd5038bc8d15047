#pragma once

#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <vector>

namespace heddle::detail {

/// The counts of a solve at the time when one of its parts begins, which is itself a solve. They
/// are added to the records of that part.
struct EarlierParts {
  Index iterations = 0;
  double seconds = 0;
  Index applications = 0;
  Index applications_each = 1;  ///< applications of the whole per application of the part

  IterationRecord after(IterationRecord record) const noexcept {
    record.iteration += iterations;
    record.seconds += seconds;
    record.operator_applications = applications + applications_each * record.operator_applications;
    return record;
  }

  void append(const std::vector<IterationRecord>& part, std::vector<IterationRecord>& whole) const {
    for (const IterationRecord& record : part) whole.push_back(after(record));
  }

  /// A monitor for the part. It calls `monitor` with the counts of the whole solve. `monitor` must
  /// outlive it.
  Monitor watch(const Monitor& monitor) const {
    if (!monitor.iteration) return monitor;
    return monitor.with_iteration([earlier = *this, &monitor](const MonitorState& state) {
      const IterationRecord record = earlier.after(state.record);
      return monitor.iteration({record, state.nev, state.eigenvalues, state.residuals});
    });
  }
};

}  // namespace heddle::detail
