#include "spmm/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <heddle/linalg/base/error.hpp>
#include <nlohmann/json.hpp>

#include "spmm/intensity.hpp"

namespace heddle::lab {
namespace {

double per_second(double amount, double ms) { return ms > 0 ? amount / (ms * 1e-3) : 0; }

double fraction_of_bound(const WidthComparison& width, double ms, double bandwidth) {
  return per_second(width.compulsory_bytes, ms) / bandwidth;
}

/// Geometric mean and minimum of ratios.
struct Ratios {
  double log_sum = 0;
  double least = 0;
  int count = 0;

  void add(double ratio) {
    log_sum += std::log(ratio);
    least = count == 0 ? ratio : std::min(least, ratio);
    ++count;
  }
  double mean() const { return count > 0 ? std::exp(log_sum / count) : 0; }
};

nlohmann::json to_json(const MatrixComparison& matrix, const WidthComparison& width,
                       double bandwidth) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelTiming& timing : width.kernels) {
    nlohmann::json entry = {{"kernel", timing.kernel}, {"rounding_errors", timing.error}};
    if (const KernelPrediction* prediction = width.prediction(timing.kernel)) {
      entry["predicted_ms"] = 1e3 * prediction->seconds;
      entry["bound_by"] = prediction->bound_by();
      entry["flops_per_byte"] =
          flops_per_byte(matrix.features, width.N, matrix.number_bytes, *prediction);
    }
    if (timing.failure.empty()) {
      entry["warm_ms"] = timing.warm_ms;
      entry["cold_ms"] = timing.cold_ms;
      entry["fraction_of_bound"] = fraction_of_bound(width, timing.warm_ms, bandwidth);
    } else {
      entry["failure"] = timing.failure;
    }
    kernels.push_back(std::move(entry));
  }
  return {{"N", width.N},           {"compulsory_bytes", width.compulsory_bytes},
          {"flops", width.flops},   {"chosen", width.chosen},
          {"reason", width.reason}, {"kernels", std::move(kernels)}};
}

}  // namespace

void print(const MatrixComparison& comparison, double bandwidth) {
  fmt::print("{}: {} x {}, {} nonzeros, {:.1f} a row, {} precision\n", comparison.matrix,
             comparison.rows, comparison.cols, comparison.nnz,
             static_cast<double>(comparison.nnz) /
                 static_cast<double>(std::max<Index>(comparison.rows, 1)),
             comparison.precision);
  for (const WidthComparison& width : comparison.widths) {
    fmt::print("  N = {}: {} ({})\n", width.N, width.chosen, width.reason);
    fmt::print("    {:<28}{:>10}{:>10}{:>10}{:>10}{:>9}{:>8}{:>8}\n", "kernel", "warm ms",
               "model ms", "cold ms", "GFLOP/s", "GB/s", "bound", "ratio");
    for (const KernelTiming& timing : width.kernels) {
      const std::string name = (timing.kernel == width.chosen ? "* " : "  ") + timing.kernel;
      if (!timing.failure.empty()) {
        fmt::print("    {:<28}{}\n", name, timing.failure);
        continue;
      }
      const KernelPrediction* const prediction = width.prediction(timing.kernel);
      fmt::print("    {:<28}{:>10.4f}{:>10}{:>10.4f}{:>10.1f}{:>9.0f}{:>8.3f}{:>8.2f}\n", name,
                 timing.warm_ms,
                 prediction == nullptr ? "-" : fmt::format("{:.4f}", 1e3 * prediction->seconds),
                 timing.cold_ms, per_second(width.flops, timing.warm_ms) * 1e-9,
                 per_second(width.compulsory_bytes, timing.warm_ms) * 1e-9,
                 fraction_of_bound(width, timing.warm_ms, bandwidth),
                 width.best_cusparse_ms() / timing.warm_ms);
    }
  }
}

void explain(const MatrixComparison& comparison) {
  const MatrixFeatures& A = comparison.features;
  fmt::print(
      "  features: rows {:.2f} +- {:.2f}, longest {}, {} empty, at most {} with 128 entries\n"
      "    reuse of B in 8 rows {:.2f}, 128 {:.2f}, 2048 {:.2f}, 32768 {:.2f}, boxes {:.2f}; "
      "runs of {:.2f} columns; {}x{} blocks filled {:.2f}; values exact in single precision: {}\n",
      A.row_mean, A.row_deviation, A.row_max, A.empty_rows, A.rows_within_128, A.reuse_8,
      A.reuse_128, A.reuse_2048, A.reuse_32768, A.reuse_grid, A.column_run, A.node_size,
      A.node_size, A.node_fill, A.values_are_floats ? "all" : "not all");
  for (const WidthComparison& width : comparison.widths) {
    fmt::print("  N = {}: {} is taken, {}\n    {:<28}{:>10}{:>10}{:>12}{:>12}{:>12}  {}\n", width.N,
               width.chosen, width.reason, "kernel", "model ms", "warm ms", "A in MB", "memory MB",
               "L2 MB", "bound by");
    for (const KernelPrediction& prediction : width.predictions) {
      constexpr double kMega = 1e6;
      const double ms = width.measured_ms(std::string(prediction.kernel));
      fmt::print("    {:<28}{:>10.4f}{:>10}{:>12.2f}{:>12.2f}{:>12.2f}  {}\n", prediction.kernel,
                 1e3 * prediction.seconds, ms > 0 ? fmt::format("{:.4f}", ms) : "-",
                 prediction.storage_bytes / kMega, prediction.memory_bytes / kMega,
                 prediction.l2_bytes / kMega, prediction.bound_by());
    }
    if (width.chosen_ms() > 0 && width.best_own_ms() > 0) {
      fmt::print("    {} takes {:.2f} times as long as the fastest kernel\n", width.chosen,
                 width.chosen_ms() / width.best_own_ms());
    }
  }
}

void print_summary(const SpmmReport& report) {
  Ratios chosen;
  Ratios fastest;
  for (const MatrixComparison& matrix : report.matrices) {
    for (const WidthComparison& width : matrix.widths) {
      const double vendor = width.best_cusparse_ms();
      if (vendor > 0 && width.chosen_ms() > 0) chosen.add(vendor / width.chosen_ms());
      if (vendor > 0 && width.best_own_ms() > 0) fastest.add(vendor / width.best_own_ms());
    }
  }
  fmt::print("{}, {:.0f} GB/s; {} cases against the best cuSPARSE\n", report.device.name,
             report.bandwidth * 1e-9, chosen.count);
  fmt::print("chosen kernel:  geometric mean {:.2f}, least {:.2f}\n", chosen.mean(), chosen.least);
  fmt::print("fastest kernel: geometric mean {:.2f}, least {:.2f}\n", fastest.mean(),
             fastest.least);
}

void write_json(const SpmmReport& report, const std::filesystem::path& path) {
  nlohmann::json document = {{"device", report.device.name},
                             {"bandwidth_bytes_per_second", report.bandwidth},
                             {"memory_bytes_per_second", report.speed.memory_bytes},
                             {"matrices", nlohmann::json::array()}};
  for (const MatrixComparison& matrix : report.matrices) {
    nlohmann::json widths = nlohmann::json::array();
    for (const WidthComparison& width : matrix.widths) {
      widths.push_back(to_json(matrix, width, report.bandwidth));
    }
    document["matrices"].push_back({{"matrix", matrix.matrix},
                                    {"precision", matrix.precision},
                                    {"rows", matrix.rows},
                                    {"cols", matrix.cols},
                                    {"nnz", matrix.nnz},
                                    {"widths", std::move(widths)}});
  }
  std::ofstream file(path);
  file << document.dump(2) << '\n';
  file.close();
  if (!file) throw InputError(path.string(), 0, "cannot be written");
}

}  // namespace heddle::lab
