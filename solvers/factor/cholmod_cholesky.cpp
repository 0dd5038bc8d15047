#include <cholmod.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/cholesky_backend.hpp>
#include <heddle/solvers/factor/one_thread.hpp>
#include <limits>
#include <memory>

namespace heddle::detail {
namespace {

/// CHOLMOD's settings and workspace.
class Common {
 public:
  Common() {
    cholmod_l_start(&common_);
    common_.print = 0;
    common_.try_catch = 1;  // errors are told by the status only
    common_.quick_return_if_not_posdef = 1;
  }
  ~Common() { cholmod_l_finish(&common_); }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;

  cholmod_common* operator->() { return &common_; }
  cholmod_common* get() { return &common_; }

  /// Throws if the last call failed for want of memory or indices.
  void check() {
    if (common_.status >= CHOLMOD_OK) return;
    if (common_.status == CHOLMOD_OUT_OF_MEMORY || common_.status == CHOLMOD_TOO_LARGE) {
      throw OutOfMemory(common_.memory_inuse, "the sparse Cholesky factorisation by CHOLMOD");
    }
    throw Error("CHOLMOD failed with status " + std::to_string(common_.status));
  }

 private:
  OneThread one_thread_;
  cholmod_common common_{};
};

using Indices = std::vector<SuiteSparse_long>;

/// A by rows, read as a matrix by columns of which CHOLMOD uses the upper triangle: that is the
/// lower triangle of A. A Hermitian A is read as its conjugate. `columns`: A's column indices.
template <WideScalar W>
cholmod_sparse upper_triangle(const CsrView<W, HostSpace>& A, Indices& columns) {
  static_assert(sizeof(SuiteSparse_long) == sizeof(std::int64_t));
  columns.assign(A.columns, A.columns + A.nnz);
  cholmod_sparse matrix{};
  matrix.nrow = matrix.ncol = static_cast<std::size_t>(A.rows);
  matrix.nzmax = static_cast<std::size_t>(A.nnz);
  matrix.p = const_cast<std::int64_t*>(A.row_offsets);
  matrix.i = columns.data();
  matrix.x = const_cast<W*>(A.values);
  matrix.stype = 1;
  matrix.itype = CHOLMOD_LONG;
  matrix.xtype = A.values == nullptr ? CHOLMOD_PATTERN
                 : kComplex<W>       ? CHOLMOD_COMPLEX
                                     : CHOLMOD_REAL;
  matrix.dtype = CHOLMOD_DOUBLE;
  matrix.packed = 1;
  return matrix;
}

/// Measured: 2 µs per row for the minimum degree order, 10 more for METIS. CHOLMOD tries METIS for
/// factors with this many operations per entry. The reference BLAS factors 2 to 4 times as many
/// operations per second as Eigen, OpenBLAS 6 to 10 times as many.
constexpr double kCholmodOrderCost = 12000;
constexpr double kMetisCost = 60000;
constexpr double kMuchFill = 500;
constexpr double kCholmodOperationCost = 3;

class CholmodCholesky final : public CholeskyBackend {
 public:
  std::string_view name() const noexcept override { return "CHOLMOD"; }
  double order_cost(double rows, const FactorCost& factor) const noexcept override {
    const bool metis = factor.operations >= kMuchFill * factor.entries;
    return (kCholmodOrderCost + (metis ? kMetisCost : 0)) * rows;
  }
  double operation_cost() const noexcept override { return kCholmodOperationCost; }
  double most_entries() const noexcept override { return std::numeric_limits<double>::infinity(); }

  std::vector<std::int32_t> order(const CsrView<double, HostSpace>& A) const override {
    Common common;
    common->supernodal = CHOLMOD_SIMPLICIAL;  // less to analyse, as only the order is of use
    Indices columns;
    cholmod_sparse pattern = upper_triangle(A, columns);
    pattern.xtype = CHOLMOD_PATTERN;
    const Factor made = analyse(pattern, common);
    const auto* order = static_cast<const SuiteSparse_long*>(made->Perm);
    return {order, order + A.rows};
  }

  std::optional<HostCsrMatrix<double>> factor(
      HostContext& context, const CsrView<double, HostSpace>& lower) const override {
    return factor_of(context, lower);
  }
  std::optional<HostCsrMatrix<std::complex<double>>> factor(
      HostContext& context, const CsrView<std::complex<double>, HostSpace>& lower) const override {
    return factor_of(context, lower);
  }

 private:
  template <WideScalar W>
  std::optional<HostCsrMatrix<W>> factor_of(HostContext& context,
                                            const CsrView<W, HostSpace>& lower) const {
    Common common;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 0;
    common->final_asis = 0;
    common->final_super = 0;
    common->final_ll = 1;
    common->final_resymbol = 1;  // without the zeros that made columns of a supernode alike
    Indices columns;
    cholmod_sparse matrix = upper_triangle(lower, columns);
    const Factor made = analyse(matrix, common);
    cholmod_l_factorize(&matrix, made.get(), common.get());
    if (common->status == CHOLMOD_NOT_POSDEF) return std::nullopt;
    common.check();
    return transposed<W>(context, *made);
  }

  struct Deleter {
    void operator()(cholmod_factor* factor) const { cholmod_l_free_factor(&factor, common->get()); }
    Common* common;
  };
  using Factor = std::unique_ptr<cholmod_factor, Deleter>;

  static Factor analyse(cholmod_sparse& matrix, Common& common) {
    Factor made(cholmod_l_analyze(&matrix, common.get()), {&common});
    common.check();
    return made;
  }

  /// Lᴴ by rows: the factor by columns, which is that of the conjugate matrix, see
  /// `upper_triangle`.
  template <WideScalar W>
  static HostCsrMatrix<W> transposed(HostContext& context, const cholmod_factor& L) {
    const auto n = static_cast<Index>(L.n);
    const auto* begin = static_cast<const SuiteSparse_long*>(L.p);
    const auto* count = static_cast<const SuiteSparse_long*>(L.nz);
    const auto* rows = static_cast<const SuiteSparse_long*>(L.i);
    const auto* values = static_cast<const W*>(L.x);
    Index entries = 0;
    for (Index k = 0; k < n; ++k) entries += count[k];
    HostCsrMatrix<W> result(context, n, n, entries);
    result.row_offsets()[0] = 0;
    for (Index k = 0; k < n; ++k) {
      const std::int64_t at = result.row_offsets()[k];
      result.row_offsets()[k + 1] = at + count[k];
      std::transform(rows + begin[k], rows + begin[k] + count[k], result.columns() + at,
                     [](SuiteSparse_long i) { return static_cast<std::int32_t>(i); });
      std::copy_n(values + begin[k], count[k], result.values() + at);
    }
    return result;
  }
};

}  // namespace

const CholeskyBackend* cholmod_cholesky() {
  static const CholmodCholesky backend;
  return &backend;
}

}  // namespace heddle::detail
