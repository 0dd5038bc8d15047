#pragma once

#include <heddle/solvers/lobpcg/stiff_factor.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>

namespace heddle::detail {

/// The soft motions of the stiff rows of A, for the search for missed pairs of a LOBPCG solve:
/// those that need little energy for the stiffness of their rows, such as the rigid motions of a
/// stiff part.
///
/// Let D be the size of the rows, and S the rows in which D is far above the rows of the pairs in
/// X. The operator D_S⁻¹A_SS treats a stiff part as if it were as soft as all others: the values of
/// its soft motions are near 0, all others are larger. A Chebyshev polynomial in this operator,
/// which is 1 at 0, leaves the soft motions in random vectors and damps the others. Vectors that
/// are 0 outside of S have no parts along the modes of the other rows, which are near 0 as well and
/// of which a large matrix has hundreds.
///
/// The values of the soft motions are all equal for this operator. So a Krylov space has one
/// combination of them per start vector, whose energy may be far above that of the best one. The
/// number of vectors is therefore doubled until their span has other directions, too. It then
/// contains all soft motions.
///
/// Where A is small and a factor of all rows costs little, inverse iteration with it, in addition
/// to the pairs in X, takes the place of all this. It misses no pair below them.
///
/// Constraints couple stiff rows with all others. All rows then belong to S, and the number of
/// vectors is `kSlab`.
template <Scalar T, class Ctx>
class SoftMotions {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;

  /// Columns that are smoothed at once.
  static constexpr Index kSlab = LobpcgBlocks<T, Ctx>::kSearchWidth;

  /// Random streams that `find` uses.
  static constexpr std::uint64_t kStreams = 64;

  /// Everything is kept by reference and must outlive this object.
  SoftMotions(Ctx& context, const EigenProblem<T, Ctx>& problem, const EigenOptions& options,
              Storage& storage)
      : context_(context), problem_(problem), options_(options), s_(storage) {}

  /// W ← the soft motions, `most` columns at most, and returns their number. 0 if S is empty or
  /// hides no motion. W is then not defined. The first two columns of `row_scale` in the storage
  /// must contain D^¼ and D⁻¹. `first`: the first of the wanted values. `stream`: the first of the
  /// random streams.
  Index find(double first, bool constrained, Index most, std::uint64_t stream);

  /// Whether the last `find` saw rows that are far above those of the pairs in X, or factored rows.
  bool uneven() const noexcept { return uneven_; }

  /// How the last `find` looked. `random_search` where S was empty.
  CompletenessMethod method() const noexcept { return method_; }

  /// Projects W onto YᵀBW = 0 for the constraints Y. The last columns of A S are scratch memory.
  void project(Block W);

 private:
  double inverse_scale_of_X();
  double inverse_scale_of_rows();
  bool choose_rows(double from, bool constrained);
  struct Values {
    double first;  // at most 0 and the first of the wanted values
    double size;   // of the last one
    double limit;
  };
  Values softest() const;
  Index find_by(StiffFactor<T, Ctx>& factor, std::uint64_t stream);
  Index find_in_all_rows(Index most, std::uint64_t stream);
  bool factor_beyond(StiffFactor<T, Ctx>& factor);
  Block iterate_inverse(StiffFactor<T, Ctx>& factor, Block V,
                        std::initializer_list<Basis<T, Space>> beside, std::uint64_t stream);
  bool hides_nothing(std::uint64_t stream);
  bool resolves(ConstBlockView<T, Space> start);
  bool choose_polynomial(double stiffness, double beyond, bool constrained);
  double largest_of_scaled_A();
  void draw(Block slab, std::uint64_t stream);
  void damp(Block W);
  void scaled_product(Block V, Block W);
  Index separate(Index columns);
  Index keep_ritz_vectors(Block V, double sign, double limit);
  double growth(ConstBlockView<T, Space> before, ConstBlockView<T, Space> after);
  double dot(ConstBlockView<T, Space> x, ConstBlockView<T, Space> y);
  void scale(Index column, Block W);
  Block slab(Index first) { return s_.blocks.S().W.columns(first, kSlab); }

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const EigenOptions& options_;
  Storage& s_;
  Index weight_ = 0;     // the column of `row_scale` with D_S^¼
  Index inverse_D_ = 1;  // and that with D_S⁻¹
  double lower_ = 0;     // the polynomial damps the eigenvalues of D_S⁻¹A_SS in [lower, upper]
  double upper_ = 0;
  Index degree_ = 0;
  bool few_rows_ = false;  // whether S has few of all rows
  bool uneven_ = true;
  CompletenessMethod method_ = CompletenessMethod::random_search;
};

}  // namespace heddle::detail
