#include <algorithm>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {

void sum_over_processes(HostContext& context,
                        std::initializer_list<SmallView<double, HostSpace>> parts) {
  if (context.processes() == nullptr) return;
  const PhaseScope phase(context, Phase::sums);
  Index size = 0;
  for (const auto& part : parts) size += part.rows * part.cols;
  if (size == 0) return;
  auto* const numbers =
      static_cast<double*>(context.scratch(static_cast<std::size_t>(size) * sizeof(double)));
  double* next = numbers;
  for (const auto& part : parts) {
    for (Index j = 0; j < part.cols; ++j) {
      next = std::copy_n(part.data + j * part.ld, part.rows, next);
    }
  }
  context.processes()->sum({numbers, static_cast<std::size_t>(size)});
  const double* from = numbers;
  for (const auto& part : parts) {
    for (Index j = 0; j < part.cols; ++j, from += part.rows) {
      std::copy_n(from, part.rows, part.data + j * part.ld);
    }
  }
}

Index total_rows(HostContext& context, Index rows) {
  auto number = static_cast<double>(rows);
  sum_over_processes(context, {{&number, 1, 1, 1}});
  return static_cast<Index>(number);
}

}  // namespace heddle
