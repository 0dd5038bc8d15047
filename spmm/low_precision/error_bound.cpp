#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <limits>

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDoubleRoundoff = 0x1p-53;

/// Σ a b in twice the precision of double.
class AccurateSum {
 public:
  void add(double a, double b) noexcept {
    const double product = a * b;
    const double product_error = std::fma(a, b, -product);
    const double sum = sum_ + product;
    const double part = sum - sum_;
    const double sum_error = (sum_ - (sum - part)) + (product - part);
    sum_ = sum;
    rest_ += product_error + sum_error;
  }
  double value() const noexcept { return sum_ + rest_; }

  /// |c − Σ a b|. The difference of nearly equal numbers is exact.
  double distance(double c) const noexcept { return std::abs((c - sum_) - rest_); }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

/// m v/(1 − m v).
double gamma(double additions, double roundoff) noexcept {
  const double product = additions * roundoff;
  return product < 1 ? product / (1 - product) : kInfinity;
}

/// The half spacings of stored values, scaled back.
struct Spacings {
  double a = 0;
  double b = 0;
  double sum = 0;
};

struct Compared {
  double error = 0;
  double bound = 0;
  bool underflows = false;
};

template <Scalar T>
class Comparison {
 public:
  Comparison(CsrView<double, HostSpace> A, ConstBlockView<double, HostSpace> B,
             ConstBlockView<T, HostSpace> C, ProductPrecision precision,
             const ProductExponents& exponents)
      : A_(A), B_(B), C_(C), limits_(limits_of(precision)), exponents_(exponents) {}

  Compared entry(Index i, Index j) const noexcept {
    const Spacings spacing = spacings(i, j);
    const double u = limits_.roundoff;
    AccurateSum sum;
    double magnitude = 0;  // Σ |a||b|
    double input = 0;      // from rounding A and B
    double stored = 0;     // Σ of the magnitudes that are added up
    double lost = 0;       // to spacings of subnormal numbers
    for (Index k = A_.row_offsets[i]; k < A_.row_offsets[i + 1]; ++k) {
      const double a = A_.values[k];
      const double b = B_(A_.columns[k], j);
      sum.add(a, b);
      const double da = u * std::abs(a) + spacing.a;
      const double db = u * std::abs(b) + spacing.b;
      magnitude += std::abs(a) * std::abs(b);
      input += da * std::abs(b) + std::abs(a) * db + da * db;
      stored += (std::abs(a) + da) * (std::abs(b) + db);
      lost += spacing.a * std::abs(b) + std::abs(a) * spacing.b;
    }
    if (!std::isfinite(sum.value())) return {};
    const auto entries = static_cast<double>(A_.row_offsets[i + 1] - A_.row_offsets[i]);
    const double additions = limits_.additions_per_entry * entries;
    const double twice = gamma(entries, kDoubleRoundoff);
    // Dot2 computes the exact value with this error, and the distance is rounded once more.
    const double distance = sum.distance(static_cast<double>(C_(i, j)));
    const double reference = twice * twice * magnitude + 2 * kDoubleRoundoff * distance;
    lost += entries * spacing.sum;
    return {
        distance,
        input + gamma(additions, limits_.sum_roundoff) * stored + entries * spacing.sum + reference,
        magnitude > 0 && lost > (2 * u + limits_.sum_roundoff) * magnitude};
  }

 private:
  Spacings spacings(Index i, Index j) const noexcept {
    const int row = exponents_.rows.empty() ? 0 : exponents_.rows[static_cast<std::size_t>(i)];
    const int column =
        exponents_.columns.empty() ? 0 : exponents_.columns[static_cast<std::size_t>(j)];
    return {std::ldexp(limits_.spacing / 2, -row), std::ldexp(limits_.spacing / 2, -column),
            std::ldexp(limits_.sum_spacing, -row - column) + limits_.sum_spacing};
  }

  CsrView<double, HostSpace> A_;
  ConstBlockView<double, HostSpace> B_;
  ConstBlockView<T, HostSpace> C_;
  const PrecisionLimits& limits_;
  const ProductExponents& exponents_;
};

/// Error over bound. Without a bound, because a row is empty, any error is too large.
double share_of(const Compared& entry) noexcept {
  if (entry.error == 0 || entry.bound == kInfinity) return 0;
  return entry.bound > 0 && !std::isnan(entry.error) ? entry.error / entry.bound : kInfinity;
}

}  // namespace

template <Scalar T>
ProductError product_error(HostContext& context, CsrView<double, HostSpace> A,
                           ConstBlockView<double, HostSpace> B, ConstBlockView<T, HostSpace> C,
                           ProductPrecision precision, const ProductExponents& exponents) {
  constexpr Index kLeastRows = 64;
  const Comparison<T> comparison(A, B, C, precision, exponents);
  const Slabs slabs = make_slabs(A.rows, kLeastRows);
  std::vector<ProductError> parts(static_cast<std::size_t>(slabs.count()));
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    ProductError& part = parts[static_cast<std::size_t>(slab)];
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < B.cols(); ++j) {
        const Compared entry = comparison.entry(i, j);
        if (entry.error > part.largest) {
          part.largest = entry.error;
          part.bound = entry.bound;
        }
        part.underflows += entry.underflows ? 1 : 0;
        const double share = share_of(entry);
        if (share > part.share) {
          part.share = share;
          part.row = i;
          part.column = j;
        }
      }
    }
  });
  ProductError total;
  for (const ProductError& part : parts) {
    total.underflows += part.underflows;
    if (part.largest > total.largest) {
      total.largest = part.largest;
      total.bound = part.bound;
    }
    if (part.share > total.share) {
      total.share = part.share;
      total.row = part.row;
      total.column = part.column;
    }
  }
  return total;
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template ProductError product_error(                                             \
      HostContext&, CsrView<double, HostSpace>, ConstBlockView<double, HostSpace>, \
      ConstBlockView<T, HostSpace>, ProductPrecision, const ProductExponents&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
