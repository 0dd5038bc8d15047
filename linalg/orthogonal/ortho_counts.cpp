#include <heddle/linalg/orthogonal/ortho_counts.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>

namespace heddle {

void OrthoCounts::add(const OrthoReport& report, Index columns) noexcept {
  cholqr += report.method == OrthoMethod::cholqr ? 1 : 0;
  cholqr2 += report.method == OrthoMethod::cholqr2 ? 1 : 0;
  shifted += report.method == OrthoMethod::shifted_cholqr3 ? 1 : 0;
  svqb += report.method == OrthoMethod::svqb ? 1 : 0;
  dropped += columns - report.rank;
}

OrthoCounts& OrthoCounts::operator+=(const OrthoCounts& other) noexcept {
  cholqr += other.cholqr;
  cholqr2 += other.cholqr2;
  shifted += other.shifted;
  svqb += other.svqb;
  dropped += other.dropped;
  return *this;
}

}  // namespace heddle
