#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/apps/spgemm/format.hpp>
#include <heddle/linalg/base/error.hpp>

namespace heddle::apps {
namespace {

/// From this part of stored entries on, diagonals take less memory than rows, 8 bytes per place
/// against 12 per entry, and are multiplied faster.
constexpr double kLeastFill = 0.75;
constexpr double kLeastForcedFill = 0.01;
constexpr double kPercent = 100;

/// The part of the places on the diagonals where entries are stored.
double fill(const DiaShape& shape, Index nnz) {
  const auto places = static_cast<double>(shape.rows) * static_cast<double>(shape.diagonals());
  return places > 0 ? static_cast<double>(nnz) / places : 1;
}

std::string describe(const char* name, const DiaShape& shape, Index nnz) {
  return fmt::format("{} has {} diagonals, {:.1f} % full", name, shape.diagonals(),
                     kPercent * fill(shape, nnz));
}

template <class T>
bool all_finite(const CsrView<T, HostSpace>& A) {
  return std::all_of(A.values, A.values + A.nnz, [](T value) { return std::isfinite(value); });
}

}  // namespace

template <Scalar T>
FormatChoice choose_format(HostContext& host, SpgemmFormat wanted, CsrView<T, HostSpace> A,
                           CsrView<T, HostSpace> B) {
  if (wanted == SpgemmFormat::csr) return {false, "asked for", {}, {}};
  FormatChoice choice{false, "", dia_shape(host, A), {}};
  choice.B = A.row_offsets == B.row_offsets ? choice.A : dia_shape(host, B);
  const double least = std::min(fill(choice.A, A.nnz), fill(choice.B, B.nnz));
  choice.reason = describe("A", choice.A, A.nnz) + "; " + describe("B", choice.B, B.nnz);
  const bool finite = all_finite(A) && all_finite(B);
  if (wanted == SpgemmFormat::dia) {
    if (!finite) {
      throw InvalidArgument(
          "a factor has a value that is not finite, of which the zeros that fill a diagonal would "
          "make NaN; use --format csr");
    }
    if (least < kLeastForcedFill) {
      throw InvalidArgument(fmt::format(
          "{}: diagonals would take {:.0f} times the memory of the entries; use --format csr",
          choice.reason, 1 / least));
    }
    choice.reason = "asked for; " + choice.reason;
    choice.dia = true;
    return choice;
  }
  choice.dia = finite && A.nnz > 0 && B.nnz > 0 && least >= kLeastFill;
  if (!finite) choice.reason = "a value is not finite";
  if (!choice.dia && finite) {
    choice.reason += fmt::format("; bands from {:.0f} % on", kPercent * kLeastFill);
  }
  return choice;
}

template FormatChoice choose_format(HostContext&, SpgemmFormat, CsrView<float, HostSpace>,
                                    CsrView<float, HostSpace>);
template FormatChoice choose_format(HostContext&, SpgemmFormat, CsrView<double, HostSpace>,
                                    CsrView<double, HostSpace>);

}  // namespace heddle::apps
