#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>
#include <vector>

namespace heddle::gallery {
namespace {

/// The first `count` primes, by the sieve of Eratosthenes over the odd numbers.
std::vector<Index> first_primes(Index count) {
  // p_n < n (ln n + ln ln n) for n ≥ 6 (Rosser, 1941).
  const double n = std::max(6.0, static_cast<double>(count));
  const auto limit = static_cast<std::size_t>(n * (std::log(n) + std::log(std::log(n)))) + 1;
  std::vector<bool> composite(limit / 2 + 1);
  std::vector<Index> primes{2};
  primes.reserve(static_cast<std::size_t>(count));
  for (std::size_t k = 1; static_cast<Index>(primes.size()) < count; ++k) {
    if (composite[k]) continue;
    const std::size_t prime = 2 * k + 1;
    primes.push_back(static_cast<Index>(prime));
    for (std::size_t multiple = 2 * k * (k + 1); multiple < composite.size(); multiple += prime) {
      composite[multiple] = true;
    }
  }
  return primes;
}

}  // namespace

/// The matrix with the i-th prime at (i, i) and ones where |i − j| is a power of two.
template <Scalar T>
HostCsrMatrix<T> trefethen(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  const std::vector<Index> primes = first_primes(n);
  Index farthest = 1;
  while (2 * farthest < n) farthest *= 2;
  return csr_by_rows<T>(context, window.of(n), n, [&](Index i, auto&& emit) {
    for (Index distance = farthest; distance > 0; distance /= 2) {
      if (distance <= i) emit(i - distance, 1);
    }
    emit(i, static_cast<double>(primes[static_cast<std::size_t>(i)]));
    for (Index distance = 1; i + distance < n; distance *= 2) emit(i + distance, 1);
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> trefethen(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
