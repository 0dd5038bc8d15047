#pragma once

#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <vector>

namespace heddle::detail {

/// What a solve had done before one of its parts, a solve of its own, began: the part's records
/// count from there on.
struct EarlierParts {
  Index iterations = 0;
  double seconds = 0;
  Index applications = 0;
  Index applications_each = 1;  ///< of the whole, for one of the part

  IterationRecord after(IterationRecord record) const noexcept {
    record.iteration += iterations;
    record.seconds += seconds;
    record.operator_applications = applications + applications_each * record.operator_applications;
    return record;
  }

  void append(const std::vector<IterationRecord>& part, std::vector<IterationRecord>& whole) const {
    for (const IterationRecord& record : part) whole.push_back(after(record));
  }

  /// What the part is to call in place of `monitor`, which must outlive it.
  Monitor watch(const Monitor& monitor) const {
    if (!monitor) return {};
    return [earlier = *this, &monitor](const MonitorState& state) {
      const IterationRecord record = earlier.after(state.record);
      return monitor({record, state.nev, state.eigenvalues, state.residuals});
    };
  }
};

}  // namespace heddle::detail
