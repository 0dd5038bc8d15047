#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/kernel_models.hpp>
#include <heddle/spmm/model/model.hpp>
#include <utility>

namespace heddle {
namespace {

using detail::KernelConstants;
using detail::KernelModel;
using detail::KernelWork;

KernelTerms terms_of(const KernelModel& model, const KernelWork& work, const DeviceSpeed& device) {
  constexpr double kL2BytesPerCycle = 32;  // and multiprocessor
  constexpr double kInstructionsPerCycle = 4;
  constexpr double kLoadCycles = 600;  // of a load that misses L1
  constexpr double kWarpCycles = 3;    // from one instruction of a warp to its next one
  constexpr double kLaunchSeconds = 2e-6;
  const double cycles = device.clock * device.multiprocessors;  // of all, per second
  return {.kernel = model.kernel,
          .memory = work.memory_bytes / device.memory_bytes,
          .l2 = work.l2_bytes / (cycles * kL2BytesPerCycle),
          .l1 = work.wavefronts / cycles,
          .issue = work.instructions / (cycles * kInstructionsPerCycle),
          .tensor = work.tensor_cycles / cycles,
          .loads = work.chain * kLoadCycles / device.clock,
          .instructions = work.warp_instructions * kWarpCycles / device.clock,
          .waves = work.waves,
          .tail = work.tail * kLoadCycles / device.clock,
          .launch = work.launches * kLaunchSeconds,
          .storage_bytes = work.storage_bytes};
}

ProductTimes times_of(const KernelTerms& nominal, const KernelConstants& constants) {
  ProductTimes times;
  times.memory = constants.memory * nominal.memory;
  times.l2 = constants.l2 * nominal.l2;
  times.l1 = constants.l1 * nominal.l1;
  times.issue = constants.issue * nominal.issue;
  times.tensor = nominal.tensor;
  times.latency =
      nominal.waves * (constants.latency * nominal.loads + constants.issue * nominal.instructions);
  times.tail = constants.tail * nominal.tail;
  times.launch = constants.launch * nominal.launch;
  return times;
}

/// Parts that work at the same time hinder each other where they take about equally long: a norm
/// between the maximum and the sum.
double combined(const ProductTimes& times) {
  constexpr double kPower = 3;
  double sum = 0;
  for (const double part :
       {times.memory, times.l2, times.l1, times.issue, times.tensor, times.latency, times.tail}) {
    sum += std::pow(part, kPower);
  }
  return times.launch + std::pow(sum, 1 / kPower);
}

/// Calls visit(model, work) for the kernels that have a model and apply to A.
template <class Visit>
void for_each_work(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                   const DeviceSpeed& device, const Visit& visit) {
  if (A.nnz == 0 || N <= 0) return;
  const detail::ReuseCurve reuse(A);
  const detail::ProductShape product = detail::shape_of(A, reuse, N, scalar_bytes, device);
  for (const KernelModel& model : detail::kernel_models()) {
    if (const auto work = model.count(product)) visit(model, *work);
  }
}

}  // namespace

std::string_view KernelPrediction::bound_by() const noexcept {
  const std::pair<double, std::string_view> parts[] = {
      {times.memory, "memory"},    {times.l2, "L2"},         {times.l1, "L1"},
      {times.issue, "issue"},      {times.tensor, "tensor"}, {times.latency, "latency"},
      {times.tail, "longest row"}, {times.launch, "launch"}};
  return std::max_element(std::begin(parts), std::end(parts))->second;
}

std::vector<KernelPrediction> predict_kernels(const MatrixFeatures& A, Index N,
                                              std::size_t scalar_bytes, const DeviceSpeed& device) {
  std::vector<KernelPrediction> predictions;
  for_each_work(A, N, scalar_bytes, device, [&](const KernelModel& model, const KernelWork& work) {
    const bool complex = scalar_bytes > sizeof(double);
    const ProductTimes times =
        times_of(terms_of(model, work, device), complex ? model.of_complex : model.constants);
    predictions.push_back({model.kernel, combined(times), times, work.storage_bytes,
                           work.memory_bytes, work.l2_bytes});
  });
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return predictions;
}

std::vector<KernelTerms> kernel_terms(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                                      const DeviceSpeed& device) {
  std::vector<KernelTerms> terms;
  for_each_work(A, N, scalar_bytes, device, [&](const KernelModel& model, const KernelWork& work) {
    terms.push_back(terms_of(model, work, device));
  });
  return terms;
}

}  // namespace heddle
