// cuDSS on the GPU: seconds of the order, the analysis, the factorisation and the solves of
// A − σI by mode, and whether two runs agree to the bit. Each mode is a combination of the
// deterministic mode, a choice of pivots, and solves of one or of all columns at once.
//
// usage: gpu_factor STRUCTURE SIZE SIGMA [COLUMNS]   as: gpu_factor laplace3d 60 2.5 8
//   SIGMA below the spectrum: also as a positive definite matrix.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/factor/lower_triangles.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

using namespace detail;

struct Mode {
  const char* name;
  int type;                  ///< of the matrix
  int pivots;                ///< negative: those of cuDSS's choice
  int deterministic;         ///< in the factorisation
  int solves_deterministic;  ///< in solves
  bool at_once;              ///< whether a solve takes all columns
};

constexpr int kAuto = -1, kNone = 1, kCudssBunchKaufman = 6;
constexpr std::array<Mode, 12> kModes = {{
    {"LL' deterministic, one by one", kCudssPositiveDefinite, kAuto, 1, 1, false},
    {"LL' deterministic, at once", kCudssPositiveDefinite, kAuto, 1, 1, true},
    {"LL' deterministic factor, free solves at once", kCudssPositiveDefinite, kAuto, 1, 0, true},
    {"LL' free, at once", kCudssPositiveDefinite, kAuto, 0, 0, true},
    {"LDL' Bunch-Kaufman deterministic, one by one", kCudssSymmetric, kCudssBunchKaufman, 1, 1,
     false},
    {"LDL' Bunch-Kaufman deterministic, at once", kCudssSymmetric, kCudssBunchKaufman, 1, 1, true},
    {"LDL' Bunch-Kaufman det. factor, free solves at once", kCudssSymmetric, kCudssBunchKaufman, 1,
     0, true},
    {"LDL' Bunch-Kaufman free, at once", kCudssSymmetric, kCudssBunchKaufman, 0, 0, true},
    {"LDL' diagonal pivots deterministic, one by one", kCudssSymmetric, kCudssDiagonalPivots, 1, 1,
     false},
    {"LDL' diagonal pivots free, at once", kCudssSymmetric, kCudssDiagonalPivots, 0, 0, true},
    {"LDL' pivots of cuDSS, deterministic, one by one", kCudssSymmetric, kAuto, 1, 1, false},
    {"LDL' no pivots, deterministic, one by one", kCudssSymmetric, kNone, 1, 1, false},
}};

void check(int status, const char* what) {
  if (status != kCudssSuccess) throw DeviceError(fmt::format("{}: status {}", what, status));
}

/// One factorisation with solves.
class Run {
 public:
  Run(CudaContext& context, CsrMatrix<double, DeviceSpace>& A, const Mode& mode, Index columns)
      : context_(context), f_(cudss().functions), mode_(mode), n_(A.rows()), columns_(columns) {
    check(f_.create(&handle_), "create");
    check(f_.set_stream(handle_, context.stream()), "stream");
    check(f_.config_create(&config_), "config");
    check(f_.data_create(handle_, &data_), "data");
    set(kCudssDeterministic, mode.deterministic, "deterministic");
    set(kCudssMatching, kCudssNoMatching, "matching");
    if (mode.pivots >= 0) set(kCudssPivoting, mode.pivots, "pivots");
    check(f_.matrix_csr(&matrix_, n_, n_, A.nnz(), A.row_offsets(), nullptr, A.columns(),
                        A.values(), kCudssInt64, kCudssInt32, kCudssDouble, mode.type, kCudssLower,
                        kCudssFromZero),
          "matrix");
    right_ = {context, static_cast<std::size_t>(n_ * columns)};
    solution_ = {context, static_cast<std::size_t>(n_ * columns)};
    fill_random<double>(context, 7, 0,
                        BlockView<double, DeviceSpace>(right_.data(), n_ * columns, 1, 1));
  }
  ~Run() {
    if (matrix_ != nullptr) f_.matrix_destroy(matrix_);
    if (data_ != nullptr) f_.data_destroy(handle_, data_);
    if (config_ != nullptr) f_.config_destroy(config_);
    if (handle_ != nullptr) f_.destroy(handle_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void all() {
    const double order = timed([&] { execute(kCudssReordering, nullptr, nullptr, "order"); });
    const double analysis = timed([&] { execute(kCudssSymbolic, nullptr, nullptr, "analysis"); });
    const auto factor = [&] { execute(kCudssFactorization, nullptr, nullptr, "factorisation"); };
    const double first = timed(factor);
    const double second = timed(factor);
    int info = -1;
    check(get(kCudssInfo, &info, sizeof(info)), "info");
    std::int64_t entries = 0, operations = 0;
    check(get(kCudssEntries, &entries, sizeof(entries)), "entries");
    check(get(kCudssOperations, &operations, sizeof(operations)), "operations");
    fmt::print(
        "  order {:.3f} s, analysis {:.3f} s, factor {:.4f} s then {:.4f} s, info {}, L {} "
        "entries, {:.2e} operations\n",
        order, analysis, first, second, info, entries, static_cast<double>(operations));
    print_counts();
    if (mode_.solves_deterministic != mode_.deterministic) {
      set(kCudssDeterministic, mode_.solves_deterministic, "deterministic solves");
    }
    solve();
    const double seconds = timed([&] {
      for (int i = 0; i < 10; ++i) solve();
    });
    fmt::print("  solve of {} columns {:.3f} ms\n", columns_, seconds * 100);
  }

  std::vector<double> solution() {
    std::vector<double> result(solution_.size());
    context_.copy_to_host(result.data(), solution_.data(), result.size() * sizeof(double));
    return result;
  }

  std::vector<double> right_side() {
    std::vector<double> result(right_.size());
    context_.copy_to_host(result.data(), right_.data(), result.size() * sizeof(double));
    return result;
  }

 private:
  template <class Work>
  double timed(const Work& work) {
    context_.synchronize();
    const auto begin = Clock::now();
    work();
    context_.synchronize();
    return seconds_since(begin);
  }

  void set(int parameter, int value, const char* what) {
    check(f_.config_set(config_, parameter, &value, sizeof(value)), what);
  }

  int get(int parameter, void* value, std::size_t bytes) {
    std::size_t written = 0;
    return f_.data_get(handle_, data_, parameter, value, bytes, &written);
  }

  void print_counts() {
    for (const auto& [name, parameter] :
         {std::pair{"inertia", kCudssInertia}, std::pair{"perturbed pivots", kCudssPerturbed}}) {
      std::size_t bytes = 0;
      const int asked = f_.data_get(handle_, data_, parameter, nullptr, 0, &bytes);
      std::array<std::int32_t, 8> numbers{};
      const int status = asked == kCudssSuccess ? get(parameter, numbers.data(), bytes) : asked;
      fmt::print("  {}: status {}, {} bytes:", name, status, bytes);
      for (std::size_t i = 0; i < bytes / 4; ++i) fmt::print(" {}", numbers[i]);
      fmt::print("\n");
    }
  }

  void execute(int phase, void* solution, void* right, const char* what) {
    check(f_.execute(handle_, phase, config_, data_, matrix_, solution, right), what);
  }

  void solve() {
    const Index width = mode_.at_once ? columns_ : 1;
    for (Index j = 0; j < columns_; j += width) {
      void *x = nullptr, *b = nullptr;
      check(f_.matrix_dense(&x, n_, width, n_, solution_.data() + j * n_, kCudssDouble,
                            kCudssColumnMajor),
            "solution");
      check(f_.matrix_dense(&b, n_, width, n_, right_.data() + j * n_, kCudssDouble,
                            kCudssColumnMajor),
            "right side");
      execute(kCudssSolve, x, b, "solve");
      f_.matrix_destroy(x);
      f_.matrix_destroy(b);
    }
  }

  CudaContext& context_;
  const CudssFunctions& f_;
  Mode mode_;
  Index n_, columns_;
  void* handle_ = nullptr;
  void* config_ = nullptr;
  void* data_ = nullptr;
  void* matrix_ = nullptr;
  Buffer<double, DeviceSpace> right_, solution_;
};

/// ‖A X − B‖_F / (‖A‖_F ‖X‖_F) with the lower triangle of A.
double residual(const CsrView<double, HostSpace>& A, const std::vector<double>& X,
                const std::vector<double>& B, Index columns) {
  double rest = 0, size = 0, norm = 0;
  for (std::int64_t k = 0; k < A.nnz; ++k) norm += 2 * A.values[k] * A.values[k];
  std::vector<double> y(static_cast<std::size_t>(A.rows));
  for (Index c = 0; c < columns; ++c) {
    const double* x = X.data() + c * A.rows;
    std::fill(y.begin(), y.end(), 0.0);
    for (Index i = 0; i < A.rows; ++i) {
      for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
        const Index j = A.columns[k];
        y[static_cast<std::size_t>(i)] += A.values[k] * x[j];
        if (j != i) y[static_cast<std::size_t>(j)] += A.values[k] * x[i];
      }
    }
    for (Index i = 0; i < A.rows; ++i) {
      const double r = y[static_cast<std::size_t>(i)] - B[static_cast<std::size_t>(c * A.rows + i)];
      rest += r * r;
      size += x[i] * x[i];
    }
  }
  return std::sqrt(rest / (norm * size));
}

void compare_modes(const HostCsrMatrix<double>& lower, double sigma, Index columns) {
  CudaContext context;
  auto A = place<double>(context, lower.view());
  for (const Mode& mode : kModes) {
    if (mode.type == kCudssPositiveDefinite && sigma >= 0) continue;
    fmt::print("{}\n", mode.name);
    try {
      std::vector<double> first;
      for (int run = 0; run < 2; ++run) {
        Run factor(context, A, mode, columns);
        factor.all();
        const std::vector<double> X = factor.solution();
        if (run == 0) {
          first = X;
          fmt::print("  residual {:.1e}\n",
                     residual(lower.view(), X, factor.right_side(), columns));
          continue;
        }
        fmt::print("  two runs agree to the bit: {}\n",
                   std::memcmp(first.data(), X.data(), X.size() * sizeof(double)) == 0);
      }
    } catch (const std::exception& error) {
      fmt::print("  {}\n", error.what());
    }
  }
}

int run(const std::string& structure, Index size, double sigma, Index columns) {
  HostContext host;
  const auto A = generate<double>(host, {structure, {size, size, size}});
  LowerTriangles lower = lower_triangles(host, A.view(), {});
  for (std::int64_t k = 0; k < lower.A.nnz(); ++k) {
    lower.A.values()[k] -= sigma * lower.B.data()[k];
  }
  fmt::print("cuDSS {}, {} {}, sigma {}, {} rows, {} entries in the lower triangle\n",
             cudss().version, structure, size, sigma, A.rows(), lower.A.nnz());
  compare_modes(lower.A, sigma, columns);
  return 0;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: gpu_factor STRUCTURE SIZE SIGMA [COLUMNS]\n");
    return 2;
  }
  try {
    return heddle::run(argv[1], std::stoll(argv[2]), std::stod(argv[3]),
                       argc > 4 ? std::stoll(argv[4]) : 8);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_factor: {}\n", error.what());
    return 1;
  }
}
