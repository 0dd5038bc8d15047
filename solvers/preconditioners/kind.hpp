#pragma once

#include <functional>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
class PreconditionerStage;

/// The kinds of solves. Solves of one kind can use the same preconditioners.
enum class PreconditionedTask {
  eigenpairs,        ///< A x = λ B x by LOBPCG
  linear_system,     ///< A X = B by block CG
  least_squares,     ///< min ‖B − A X‖ by block CG on AᵀA X = AᵀB
  unpreconditioned,  ///< takes no preconditioner: block Lanczos, singular triplets
};

/// The matrix whose inverse a preconditioner approximates.
enum class PreconditionedMatrix { A, B, normal_equations };

/// The name of the matrix in reports: "A", "B" or "A^T A".
std::string_view matrix_name(PreconditionedMatrix matrix) noexcept;

/// The access to a matrix that is available or needed. Each level includes those before it.
enum class MatrixAccess {
  products,  ///< products with blocks only
  diagonal,  ///< products and the diagonal
  entries,   ///< all entries
};

/// The properties of a problem that determine which preconditioners suit it.
struct PreconditionedProblem {
  PreconditionedTask task = PreconditionedTask::eigenpairs;  ///< what is to be solved
  Which which = Which::smallest;  ///< for `eigenpairs`: the wanted end of the spectrum
  bool pencil = false;            ///< for `eigenpairs`: whether there is a B ≠ I
  bool stored = true;             ///< whether the matrices are stored
  bool distributed = false;       ///< whether several processes hold the rows of the matrices

  /// The matrix to precondition: B for the largest eigenvalues of A x = λ B x, AᵀA for least
  /// squares, else A.
  PreconditionedMatrix matrix() const noexcept;

  /// The available access to `matrix()`. For AᵀA this is at most `diagonal`.
  MatrixAccess access() const noexcept;
};

/// The sizes from which a preconditioner's memory follows.
struct PreconditionerSizes {
  Index rows = 0;                            ///< order of the matrix
  Index nnz = 0;                             ///< its stored entries
  Index block = 1;                           ///< columns of the widest block that it is applied to
  std::size_t scalar_size = sizeof(double);  ///< bytes per scalar

  /// Bytes of a sparse matrix of the same order with `entries` entries.
  double matrix_bytes(Index entries) const noexcept;
  /// Bytes of `count` vectors of the same order.
  double vector_bytes(Index count) const noexcept;
};

/// Estimated bytes of the context's memory. Data that SpMM plans add to a stored matrix are not
/// included. An estimate is at least 0.75 times the allocated memory. It is at most twice that
/// memory, unless the kind documents that it is only an upper bound.
struct PreconditionerBytes {
  double matrix = 0;  ///< of the matrix that the preconditioner stores
  double kept = 0;    ///< of all memory that it keeps between applications, `matrix` included
  double setup = 0;   ///< at the peak of its setup if that exceeds `kept`, else 0
};

/// Makes a preconditioner for blocks of T and a matrix in the memory of `Ctx`. The matrix is not
/// needed afterwards.
template <Scalar T, class Ctx, class Matrix>
using MakePreconditionerFrom = std::function<std::unique_ptr<Preconditioner<T, Ctx>>(
    Ctx&, Matrix, const PreconditionerOptions&, const SpmmOptions&)>;

/// The same for a matrix of U whose rows processes may share.
template <Scalar T, class Ctx, Scalar U = T>
using MakePreconditioner =
    MakePreconditionerFrom<T, Ctx, DistributedCsrView<U, typename Ctx::Space>>;

/// One `MakePreconditioner` per pair of scalar and context, and per context one that rounds: it
/// makes a preconditioner in single precision for a matrix in double precision.
class PreconditionerMaker {
 public:
  /// A maker that serves no pair.
  PreconditionerMaker() = default;

  /// `make` is usually a generic lambda that serves all pairs:
  ///
  ///     []<Scalar T, class Ctx>(Ctx& context, CsrView<T, typename Ctx::Space> A,
  ///                             const PreconditionerOptions& options, const SpmmOptions&) {
  ///       return std::make_unique<MyPreconditioner<T, Ctx>>(context, A, options.integer("key"));
  ///     }
  ///
  /// With a `DistributedCsrView` in place of the `CsrView`, it also serves matrices whose rows
  /// processes share. It may serve fewer pairs: with `RealScalar T` real matrices only, with a
  /// `HostContext&` those in host memory. One
  /// that rounds returns a `Preconditioner<float, Ctx>` for a `CsrView<double, typename
  /// Ctx::Space>`:
  ///
  ///     {[]<Scalar T, class Ctx>…, []<class Ctx>(Ctx& context, CsrView<double, …> A, …) {
  ///       return std::make_unique<MyPreconditioner<float, Ctx>>(context, A, …);
  ///     }}
  template <class... F>
  PreconditionerMaker(const F&... makes) requires(sizeof...(F) > 0) {
    const auto assign_all = [this](const auto& make) {
      std::apply([&](auto&... pair) { (assign(pair, make), ...); }, pairs_);
    };
    (assign_all(makes), ...);
  }

  /// Whether the maker serves any pair of scalar and context.
  explicit operator bool() const noexcept {
    return std::apply([](const auto&... pair) { return (static_cast<bool>(pair) || ...); }, pairs_);
  }

  /// Whether a function takes a `DistributedCsrView`.
  bool serves_distributed() const noexcept { return serves_distributed_; }

  /// The function for one pair, empty if the pair is not served.
  template <Scalar T, class Ctx, Scalar U = T>
  const MakePreconditioner<T, Ctx, U>& get() const noexcept {
    return std::get<MakePreconditioner<T, Ctx, U>>(pairs_);
  }

 private:
  template <Scalar T, class Ctx, Scalar U, class Space, class F>
  void assign(MakePreconditionerFrom<T, Ctx, DistributedCsrView<U, Space>>& pair, const F& make) {
    using Whole = MakePreconditionerFrom<T, Ctx, CsrView<U, Space>>;
    if constexpr (std::is_constructible_v<std::remove_reference_t<decltype(pair)>, const F&>) {
      pair = make;
      serves_distributed_ = true;
    } else if constexpr (std::is_constructible_v<Whole, const F&>) {
      pair = [make](Ctx& context, const DistributedCsrView<U, Space>& A,
                    const PreconditionerOptions& options,
                    const SpmmOptions& spmm) { return make(context, A.whole(), options, spmm); };
    }
  }

  std::tuple<MakePreconditioner<float, HostContext>, MakePreconditioner<double, HostContext>,
             MakePreconditioner<std::complex<double>, HostContext>,
             MakePreconditioner<float, HostContext, double>
#ifdef HEDDLE_HAS_CUDA
             ,
             MakePreconditioner<float, CudaContext>, MakePreconditioner<double, CudaContext>,
             MakePreconditioner<std::complex<double>, CudaContext>,
             MakePreconditioner<float, CudaContext, double>
#endif
             >
      pairs_;
  bool serves_distributed_ = false;
};

/// The report of the schedule of M on its last solve. Nothing where M is no schedule.
template <Scalar T, class Ctx>
std::optional<PreconditionerReport> report_of(Preconditioner<T, Ctx>& M);

/// The description of one preconditioner, which is a row of `preconditioner_table`. To offer a
/// preconditioner of your own, fill in a row and `add` it to the table. Methods and programs then
/// find it by its name.
struct PreconditionerKind {
  std::string name{};  ///< the name by which users choose it, such as "chebyshev"
  std::string doc{};   ///< one line
  std::vector<PreconditionerKey> keys{};       ///< its options
  MatrixAccess needs = MatrixAccess::entries;  ///< the access to the matrix that it needs
  /// Whether it approximates A⁻¹ so well that it suppresses the eigenvectors of the largest
  /// eigenvalues of A. It must not be used to find these.
  bool near_inverse = false;
  /// Whether it depends on nothing but the matrix and the options, so that it also serves A(p, p)
  /// for a permutation p of the rows. Without it, rows keep the caller's order, see
  /// `Request::reorder`.
  bool any_row_order = false;
  /// Whether it reads `PreconditionerOptions::near_null`.
  bool takes_near_null = false;
  /// Whether its maker that rounds serves `PreconditionerOptions::products` in half, bf16 and tf32.
  bool narrow_products = false;
  /// Whether block CG takes about as many iterations with the form in single precision.
  bool lowered_in_cg = false;
  /// The text that reports add to the name, such as ", degree 12". Empty: reports add nothing.
  std::function<std::string(const PreconditionerOptions&)> describe_options{};
  /// The function behind `bytes`. Empty: the preconditioner keeps only negligible memory.
  std::function<PreconditionerBytes(const PreconditionerSizes&, const PreconditionerOptions&)>
      estimate_bytes{};
  PreconditionerMaker maker{};  ///< see `make`

  /// The options with the values in `given`, and with the defaults of the keys where `given` has
  /// none. Throws `InvalidArgument` for an unknown option or a value out of range, see
  /// `PreconditionerOptions`.
  PreconditionerOptions options(const OptionValues& given = {}) const;

  /// The reason why this preconditioner does not suit `problem`, as the rest of a sentence that
  /// begins with its name. Empty if it suits the problem.
  std::string unsuitable(const PreconditionedProblem& problem) const;

  /// The addition of reports to the name, such as ", degree 12".
  std::string describe(const PreconditionerOptions& options) const;

  /// The memory that it takes.
  PreconditionerBytes bytes(const PreconditionerSizes& sizes,
                            const PreconditionerOptions& options) const;

  /// The memory that it takes in single precision, and once it is raised.
  PreconditionerBytes lowered_bytes(const PreconditionerSizes& sizes,
                                    const PreconditionerOptions& options) const;

  /// Makes it for the square A in the context's memory, which is not needed afterwards. A carries
  /// only its shape where `needs` is `products`, and may be diagonal where that is `diagonal`.
  /// Throws `InvalidArgument` if A is not square, the pair of scalar and context is not served, or
  /// the maker returns null, and `OutOfMemory`.
  template <Scalar T, class Ctx>
  std::unique_ptr<Preconditioner<T, Ctx>> make(Ctx& context,
                                               DistributedCsrView<T, typename Ctx::Space> A,
                                               const PreconditionerOptions& options,
                                               const SpmmOptions& spmm = {}) const {
    SetupCost cost(context);
    auto made = made_by(maker.template get<T, Ctx>(), context, A, options, spmm);
    cost.stop(context);
    made->note_making(name + describe(options), cost);
    return made;
  }

  /// Whether it can be made for complex matrices.
  bool takes_complex() const noexcept {
    return static_cast<bool>(maker.get<std::complex<double>, HostContext>());
  }

  /// Whether it can be made in single precision for a matrix in double precision.
  template <class Ctx>
  bool can_be_lowered() const noexcept {
    return static_cast<bool>(maker.template get<float, Ctx, double>());
  }

  /// Makes it for blocks and an A in double precision, with products in the precision that the
  /// options name. The stage goes up to single precision, if its products are in a shorter type,
  /// and at last to double precision, for which A must outlive it. Conditions and errors as for
  /// `make`.
  template <class Ctx>
  PreconditionerStage<double, Ctx> lowered_stage(Ctx& context,
                                                 DistributedCsrView<double, typename Ctx::Space> A,
                                                 const PreconditionerOptions& options,
                                                 const SpmmOptions& spmm = {}) const;

  /// The schedule of a solve with `lowered_stage` alone, see `Preconditioner::schedule`.
  template <class Ctx>
  std::unique_ptr<Preconditioner<double, Ctx>> make_lowered(
      Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
      const PreconditionerOptions& options, const SpmmOptions& spmm = {}) const;

 private:
  template <Scalar T, class Ctx, Scalar U>
  std::unique_ptr<Preconditioner<T, Ctx>> made_by(const MakePreconditioner<T, Ctx, U>& make_pair,
                                                  Ctx& context,
                                                  DistributedCsrView<U, typename Ctx::Space> A,
                                                  const PreconditionerOptions& options,
                                                  const SpmmOptions& spmm) const {
    if (!make_pair) refuse_pair();
    std::unique_ptr<Preconditioner<T, Ctx>> made = make_pair(context, A, options, spmm);
    if (made == nullptr) refuse_nothing();
    return made;
  }

  [[noreturn]] void refuse_pair() const;
  [[noreturn]] void refuse_nothing() const;
};

}  // namespace heddle
