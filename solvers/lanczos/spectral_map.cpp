#include <algorithm>
#include <cmath>
#include <heddle/solvers/lanczos/spectral_map.hpp>
#include <limits>

namespace heddle::detail {

void SpectralMap::set_inverse(double sigma, double reach) noexcept {
  filter_.reset();
  inverts_ = true;
  sigma_ = sigma;
  reach_ = reach;
}

double SpectralMap::y_at(double theta) const noexcept {
  if (inverts_) return sigma_ + 1 / std::max(theta, std::numeric_limits<double>::min());
  if (!filter_) return -theta;
  const ChebyshevInterval& y = filter_->interval;
  return y.middle() -
         y.half_width() * std::cosh(std::acosh(std::max(theta, 1.0)) / filter_->degree);
}

double SpectralMap::theta_of(double lambda) const noexcept {
  if (inverts_) return 1 / (lambda - sigma_);
  if (!filter_) return -y_of(lambda);
  const double x = (filter_->interval.middle() - y_of(lambda)) / filter_->interval.half_width();
  return std::cosh(filter_->degree * std::acosh(std::max(x, 1.0)));
}

double SpectralMap::value_error(double theta, double error) const noexcept {
  if (!inverts_) return residual_bound(theta, error);
  return error < theta ? error / (theta * (theta - error))
                       : std::numeric_limits<double>::infinity();
}

double SpectralMap::residual_of_F(double theta, double residual) const noexcept {
  if (!filter_) return residual;
  return residual * separation(theta) / (filter_->interval.upper - y_at(theta));
}

double SpectralMap::residual_bound(double theta, double residual) const noexcept {
  if (inverts_) return residual < theta ? reach_ * residual / theta : reach_;
  if (!filter_) return residual;
  const double distance = filter_->interval.upper - y_at(theta);  // no vector has a larger residual
  const double separation = this->separation(theta);
  return residual < separation ? distance * residual / separation : distance;
}

}  // namespace heddle::detail
