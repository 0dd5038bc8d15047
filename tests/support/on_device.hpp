#pragma once

#include <algorithm>
#include <cstddef>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/cuda_context.hpp>
#include <heddle/linalg/small_dense.hpp>
#include <vector>

/// The operations of a GPU on blocks in host memory, so that tests written for the host backend run
/// on the GPU unchanged: what the operands cover is copied over, worked on, and copied back.
namespace heddle::test {

/// Stands for a `CudaContext` where a test has host memory.
struct OnDevice {
  CudaContext& context;
};

/// Copies in device memory of stretches of host memory; stretches that overlap stay one.
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
  void add(const ConstSmallView<HostSpace>& A) {
    if (A.rows > 0 && A.cols > 0) add(A.data, (A.cols - 1) * A.ld + A.rows);
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
  ConstSmallView<DeviceSpace> device(const ConstSmallView<HostSpace>& A) const {
    return {at(A.data), A.rows, A.cols, A.ld};
  }
  SmallView<DeviceSpace> device(const SmallView<HostSpace>& A) const {
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

/// operation(device views) for host views.
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
void set_identity(OnDevice on, BlockView<T, HostSpace> X) {
  mirrored(
      on, [](CudaContext& c, auto x) { heddle::set_identity<T>(c, x); }, X);
}

template <Scalar T>
void copy(OnDevice on, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y) { heddle::copy<T>(c, x, y); }, X, Y);
}

template <Scalar T>
void fill_random(OnDevice on, std::uint64_t seed, std::uint64_t stream, BlockView<T, HostSpace> X) {
  mirrored(
      on, [&](CudaContext& c, auto x) { heddle::fill_random<T>(c, seed, stream, x); }, X);
}

template <Scalar T>
void gram(OnDevice on, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<HostSpace> G) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y, auto g) { heddle::gram<T>(c, x, y, g); }, X, Y, G);
}

template <Scalar T>
void multiply(OnDevice on, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  mirrored(
      on,
      [&](CudaContext& context, auto x, auto c, auto y) {
        heddle::multiply<T>(context, alpha, x, c, beta, y);
      },
      X, C, Y);
}

template <Scalar T>
void column_norms(OnDevice on, ConstBlockView<T, HostSpace> X, SmallView<HostSpace> norms) {
  mirrored(
      on, [](CudaContext& c, auto x, auto n) { heddle::column_norms<T>(c, x, n); }, X, norms);
}

template <Scalar T>
void column_dots(OnDevice on, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
                 SmallView<HostSpace> dots) {
  mirrored(
      on, [](CudaContext& c, auto x, auto y, auto d) { heddle::column_dots<T>(c, x, y, d); }, X, Y,
      dots);
}

template <Scalar T>
void scale_columns(OnDevice on, ConstSmallView<HostSpace> factors, BlockView<T, HostSpace> X) {
  mirrored(
      on, [](CudaContext& c, auto f, auto x) { heddle::scale_columns<T>(c, f, x); }, factors, X);
}

template <Scalar T>
void residual(OnDevice on, ConstBlockView<T, HostSpace> AX, ConstBlockView<T, HostSpace> BX,
              ConstSmallView<HostSpace> theta, BlockView<T, HostSpace> R,
              SmallView<HostSpace> norms) {
  mirrored(
      on,
      [](CudaContext& c, auto ax, auto bx, auto t, auto r, auto n) {
        heddle::residual<T>(c, ax, bx, t, r, n);
      },
      AX, BX, theta, R, norms);
}

inline void cholesky_qr_coefficients(OnDevice on, ConstSmallView<HostSpace> G,
                                     SmallView<HostSpace> M, SmallView<HostSpace> status) {
  mirrored(
      on,
      [](CudaContext& c, auto g, auto m, auto s) { heddle::cholesky_qr_coefficients(c, g, m, s); },
      G, M, status);
}

inline CholeskyStatus cholesky(OnDevice on, SmallView<HostSpace> G) {
  CholeskyStatus status;
  mirrored(
      on, [&](CudaContext& c, auto g) { status = heddle::cholesky(c, g); }, G);
  return status;
}

inline void invert_upper(OnDevice on, SmallView<HostSpace> R) {
  mirrored(
      on, [](CudaContext& c, auto r) { heddle::invert_upper(c, r); }, R);
}

inline void small_multiply(OnDevice on, double alpha, ConstSmallView<HostSpace> A, bool transpose_a,
                           ConstSmallView<HostSpace> B, bool transpose_b, double beta,
                           SmallView<HostSpace> C) {
  mirrored(
      on,
      [&](CudaContext& context, auto a, auto b, auto c) {
        heddle::small_multiply(context, alpha, a, transpose_a, b, transpose_b, beta, c);
      },
      A, B, C);
}

}  // namespace heddle::test
