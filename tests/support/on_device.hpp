#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <initializer_list>
#include <vector>

#include "support/cuda_test.hpp"

/// The operations of a GPU on blocks in host memory, so that tests written for the host backend run
/// on the GPU unchanged. The memory of the operands is copied to the device, the operation runs
/// there, and the memory is copied back.
namespace heddle::test {

/// Takes the place of a `CudaContext` in tests with data in host memory.
struct OnDevice {
  CudaContext& context;
};

/// The GPU, with operands copied there and back, for tests with the backend as a type parameter.
template <class T>
struct OnGpu {
  using Scalar = T;
  using Context = OnDevice;
  class Fixture : public CudaTest {
   protected:
    OnDevice on() { return {context()}; }
  };
};

/// Copies, in device memory, of ranges of host memory. Overlapping ranges share one copy.
class Mirror {
 public:
  explicit Mirror(CudaContext& context) : context_(context) {}
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() {
    for (const Stretch& s : stretches_) context_.deallocate(s.device, s.bytes());
  }

  template <class T>
  void add(const ConstBlockView<T, HostSpace>& X) {
    if (!X.empty()) add(X.data(), (X.rows() - 1) * X.ld() + X.cols());
  }
  template <WideScalar W>
  void add(const ConstSmallView<W, HostSpace>& A) {
    if (A.rows > 0 && A.cols > 0) add(A.data, (A.cols - 1) * A.ld + A.rows);
  }

  template <class T>
  void add(const BlockView<T, HostSpace>& X) {
    add(ConstBlockView<T, HostSpace>(X));
  }
  template <WideScalar W>
  void add(const SmallView<W, HostSpace>& A) {
    add(ConstSmallView<W, HostSpace>(A));
  }

  void upload() {
    for (Stretch& s : stretches_) {
      s.device = static_cast<std::byte*>(context_.allocate(s.bytes()));
      context_.copy_to_device(s.device, s.first, s.bytes());
    }
  }
  void download() {
    for (const Stretch& s : stretches_) context_.copy_to_host(s.first, s.device, s.bytes());
  }

  template <class T>
  ConstBlockView<T, DeviceSpace> device(const ConstBlockView<T, HostSpace>& X) const {
    return {at(X.data()), X.rows(), X.cols(), X.ld()};
  }
  template <class T>
  BlockView<T, DeviceSpace> device(const BlockView<T, HostSpace>& X) const {
    return {at(X.data()), X.rows(), X.cols(), X.ld()};
  }
  template <WideScalar W>
  ConstSmallView<W, DeviceSpace> device(const ConstSmallView<W, HostSpace>& A) const {
    return {at(A.data), A.rows, A.cols, A.ld};
  }
  template <WideScalar W>
  SmallView<W, DeviceSpace> device(const SmallView<W, HostSpace>& A) const {
    return {at(A.data), A.rows, A.cols, A.ld};
  }

 private:
  struct Stretch {
    std::byte* first;
    std::byte* last;
    std::byte* device = nullptr;
    std::size_t bytes() const { return static_cast<std::size_t>(last - first); }
  };

  template <class T>
  void add(const T* data, Index count) {
    auto* first = reinterpret_cast<std::byte*>(const_cast<T*>(data));
    Stretch added{first, first + static_cast<std::size_t>(count) * sizeof(T)};
    std::erase_if(stretches_, [&](const Stretch& s) {
      if (s.last <= added.first || added.last <= s.first) return false;
      added = {std::min(s.first, added.first), std::max(s.last, added.last)};
      return true;
    });
    stretches_.push_back(added);
  }

  template <class T>
  T* at(T* host) const {
    const auto* place = reinterpret_cast<const std::byte*>(host);
    for (const Stretch& s : stretches_) {
      if (s.first <= place && place < s.last) {
        return reinterpret_cast<T*>(s.device + (place - s.first));
      }
    }
    return nullptr;  // an empty block
  }

  CudaContext& context_;
  std::vector<Stretch> stretches_;
};

/// Runs operation(device views) on host views.
template <class Operation, class... Views>
void mirrored(OnDevice on, const Operation& operation, const Views&... views) {
  Mirror mirror(on.context);
  (mirror.add(views), ...);
  mirror.upload();
  operation(on.context, mirror.device(views)...);
  mirror.download();
}

template <Scalar T>
void set_zero(OnDevice on, BlockView<T, HostSpace> X) {
  mirrored(
      on, [](CudaContext& c, auto x) { heddle::set_zero<T>(c, x); }, X);
}

template <Scalar T>
void set_identity(OnDevice on, BlockView<T, HostSpace> X, Index first_row = 0) {
  mirrored(
      on, [&](CudaContext& c, auto x) { heddle::set_identity<T>(c, x, first_row); }, X);
}

template <Scalar T>
void copy(OnDevice on, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y) { heddle::copy<T>(c, x, y); }, X, Y);
}

template <Scalar T>
void fill_random(OnDevice on, std::uint64_t seed, std::uint64_t stream, BlockView<T, HostSpace> X,
                 Index first_row = 0) {
  mirrored(
      on, [&](CudaContext& c, auto x) { heddle::fill_random<T>(c, seed, stream, x, first_row); },
      X);
}

template <Scalar T>
void gram(OnDevice on, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y, auto g) { heddle::gram<T>(c, x, y, g); }, X, Y, G);
}

template <Scalar T>
void gram(OnDevice on, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G, ConstBlockView<T, HostSpace> Z,
          SmallView<Wide<T>, HostSpace> H) {
  mirrored(
      on,
      [](CudaContext& c, auto x, auto y, auto g, auto z, auto h) {
        heddle::gram<T>(c, x, y, g, z, h);
      },
      X, Y, G, Z, H);
}

template <Scalar T>
void multiply(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  mirrored(
      on,
      [&](CudaContext& context, auto x, auto c, auto y) {
        heddle::multiply<T>(context, alpha, x, c, beta, y);
      },
      X, C, Y);
}

template <Scalar T>
void multiply(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
              BlockView<T, HostSpace> Y) {
  mirrored(
      on,
      [&](CudaContext& context, auto x, auto c, auto w, auto y) {
        heddle::multiply<T>(context, alpha, x, c, beta, w, y);
      },
      X, C, W, Y);
}

template <Scalar T>
void multiply(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, BlockView<T, HostSpace> Y,
              SmallView<double, HostSpace> norms) {
  mirrored(
      on,
      [&](CudaContext& context, auto x, auto c, auto y, auto n) {
        heddle::multiply<T>(context, alpha, x, c, beta, y, n);
      },
      X, C, Y, norms);
}

template <Scalar T>
void multiply_and_copy(OnDevice on, ConstBlockView<T, HostSpace> X,
                       ConstSmallView<Wide<T>, HostSpace> C, BlockView<T, HostSpace> Y,
                       BlockView<T, HostSpace> Z) {
  mirrored(
      on,
      [](CudaContext& context, auto x, auto c, auto y, auto z) {
        heddle::multiply_and_copy<T>(context, x, c, y, z);
      },
      X, C, Y, Z);
}

template <Scalar T>
void multiply_gram(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X,
                   ConstSmallView<Wide<T>, HostSpace> C, double beta,
                   ConstBlockView<T, HostSpace> W, BlockView<T, HostSpace> Y,
                   ConstBlockView<T, HostSpace> Z, SmallView<Wide<T>, HostSpace> G) {
  mirrored(
      on,
      [&](CudaContext& context, auto x, auto c, auto w, auto y, auto z, auto g) {
        heddle::multiply_gram<T>(context, alpha, x, c, beta, w, y, z, g);
      },
      X, C, W, Y, Z, G);
}

template <Scalar T>
void column_norms(OnDevice on, ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> norms) {
  mirrored(
      on, [](CudaContext& c, auto x, auto n) { heddle::column_norms<T>(c, x, n); }, X, norms);
}

template <Scalar T>
void weighted_squares(OnDevice on, ConstBlockView<T, HostSpace> weights,
                      ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> sums) {
  mirrored(
      on, [](CudaContext& c, auto w, auto x, auto s) { heddle::weighted_squares<T>(c, w, x, s); },
      weights, X, sums);
}

template <Scalar T>
void axpby(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X, double beta,
           BlockView<T, HostSpace> Y) {
  mirrored(
      on, [&](CudaContext& c, auto x, auto y) { heddle::axpby<T>(c, alpha, x, beta, y); }, X, Y);
}

template <Scalar T>
void scale_rows(OnDevice on, ConstBlockView<T, HostSpace> factors, ConstBlockView<T, HostSpace> X,
                BlockView<T, HostSpace> Y) {
  mirrored(
      on, [](CudaContext& c, auto f, auto x, auto y) { heddle::scale_rows<T>(c, f, x, y); },
      factors, X, Y);
}

template <Scalar T>
void reciprocals(OnDevice on, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y) { heddle::reciprocals<T>(c, x, y); }, X, Y);
}

template <Scalar T>
void row_maxima(OnDevice on, ConstBlockView<T, HostSpace> X, double power,
                BlockView<T, HostSpace> y) {
  mirrored(
      on, [power](CudaContext& c, auto x, auto out) { heddle::row_maxima<T>(c, x, power, out); }, X,
      y);
}

template <Scalar T>
void column_dots(OnDevice on, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
                 SmallView<double, HostSpace> dots) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y, auto d) { heddle::column_dots<T>(c, x, y, d); }, X, Y,
      dots);
}

template <Scalar T>
void scale_columns(OnDevice on, ConstSmallView<double, HostSpace> factors,
                   BlockView<T, HostSpace> X) {
  mirrored(
      on, [](CudaContext& c, auto f, auto x) { heddle::scale_columns<T>(c, f, x); }, factors, X);
}

template <Scalar T>
void residual(OnDevice on, ConstBlockView<T, HostSpace> AX, ConstBlockView<T, HostSpace> BX,
              ConstSmallView<double, HostSpace> theta, BlockView<T, HostSpace> R,
              SmallView<double, HostSpace> norms) {
  mirrored(
      on,
      [](CudaContext& c, auto ax, auto bx, auto t, auto r, auto n) {
        heddle::residual<T>(c, ax, bx, t, r, n);
      },
      AX, BX, theta, R, norms);
}

template <class ConstSmall, class Small>
void cholesky_qr_coefficients(OnDevice on, ConstSmall G, Small M,
                              SmallView<double, HostSpace> status) {
  mirrored(
      on,
      [](CudaContext& c, auto g, auto m, auto s) { heddle::cholesky_qr_coefficients(c, g, m, s); },
      G, M, status);
}

template <class ConstSmall, class Small>
void small_multiply(OnDevice on, double alpha, ConstSmall A, bool transpose_a, ConstSmall B,
                    bool transpose_b, double beta, Small C) {
  mirrored(
      on,
      [&](CudaContext& context, auto a, auto b, auto c) {
        heddle::small_multiply(context, alpha, a, transpose_a, b, transpose_b, beta, c);
      },
      A, B, C);
}

}  // namespace heddle::test

namespace heddle {

/// The orthogonaliser of a GPU for blocks in host memory.
template <Scalar T>
class Orthogonalizer<T, test::OnDevice> {
 public:
  Orthogonalizer(test::OnDevice on, Index max_cols, Index max_basis)
      : there_(on.context, max_cols, max_basis) {}

  double project(test::OnDevice on, const Basis<T, HostSpace>& basis, BlockView<T, HostSpace> X,
                 BlockView<T, HostSpace> BX) {
    double ratio = 0;
    test::mirrored(
        on,
        [&](CudaContext& c, auto q, auto bq, auto x, auto bx) {
          ratio = there_.project(c, {q, bq}, x, bx);
        },
        basis.Q, basis.BQ, X, BX);
    return ratio;
  }

  /// Supports at most two bases, because the length of an initializer list is fixed in the source.
  void gram_schmidt(test::OnDevice on, std::initializer_list<Basis<T, HostSpace>> bases,
                    BlockView<T, HostSpace> X, BlockView<T, HostSpace> BX,
                    SmallView<double, HostSpace> status) {
    test::Mirror mirror(on.context);
    for (const auto& basis : bases) {
      mirror.add(basis.Q);
      mirror.add(basis.BQ);
    }
    mirror.add(X);
    mirror.add(BX);
    mirror.add(status);
    mirror.upload();
    const auto placed = [&](std::size_t k) -> Basis<T, DeviceSpace> {
      const Basis<T, HostSpace>& basis = bases.begin()[k];
      return {mirror.device(basis.Q), mirror.device(basis.BQ)};
    };
    const auto queue = [&](std::initializer_list<Basis<T, DeviceSpace>> there) {
      there_.gram_schmidt(on.context, there, mirror.device(X), mirror.device(BX),
                          mirror.device(status));
    };
    assert(bases.size() <= 2);
    if (bases.size() == 0) queue({});
    if (bases.size() == 1) queue({placed(0)});
    if (bases.size() == 2) queue({placed(0), placed(1)});
    mirror.download();
  }

  void subtract(test::OnDevice on, const Basis<T, HostSpace>& basis, BlockView<T, HostSpace> X) {
    test::mirrored(
        on,
        [&](CudaContext& c, auto q, auto bq, auto x) {
          there_.subtract(c, {q, bq}, x);
        },
        basis.Q, basis.BQ, X);
  }

  void subtract_and_orthonormalize(test::OnDevice on, ConstBlockView<T, HostSpace> X,
                                   ConstSmallView<double, HostSpace> C,
                                   ConstBlockView<T, HostSpace> Q, BlockView<T, HostSpace> W,
                                   BlockView<T, HostSpace> Y, SmallView<double, HostSpace> status) {
    test::mirrored(
        on,
        [&](CudaContext& context, auto x, auto c, auto q, auto w, auto y, auto s) {
          there_.subtract_and_orthonormalize(context, x, c, q, w, y, s);
        },
        X, C, Q, W, Y, status);
  }

  void cholesky_qr(test::OnDevice on, BlockView<T, HostSpace> X, BlockView<T, HostSpace> BX,
                   BlockView<T, HostSpace> Y, SmallView<double, HostSpace> status) {
    test::mirrored(
        on,
        [&](CudaContext& c, auto x, auto bx, auto y, auto s) {
          there_.cholesky_qr(c, x, bx, y, s);
        },
        X, BX, Y, status);
  }

  OrthoReport orthonormalize(test::OnDevice on, BlockView<T, HostSpace> X,
                             BlockView<T, HostSpace> BX) {
    OrthoReport report;
    test::mirrored(
        on, [&](CudaContext& c, auto x, auto bx) { report = there_.orthonormalize(c, x, bx); }, X,
        BX);
    return report;
  }

 private:
  Orthogonalizer<T, CudaContext> there_;
};

}  // namespace heddle
