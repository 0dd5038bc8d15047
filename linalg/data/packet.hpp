#pragma once

#include <cassert>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <vector>

namespace heddle {

/// Small matrices that queued operations write to a context's memory and that one copy brings to
/// the host together. Waiting for a GPU takes longer than the copy itself, so one wait serves all
/// of them.
template <class Ctx>
class Packet {
 public:
  using Space = typename Ctx::Space;

  /// A matrix of the packet: operations write it in the context's memory, and `fetch` copies it to
  /// the host.
  template <class W>  // a WideScalar; clang 14 crashes on a constraint of a nested class
  struct PartOf {
    SmallView<W, Space> there;
    SmallView<W, HostSpace> here;
  };
  using Part = PartOf<double>;

  Packet() = default;

  /// Allocates memory for `capacity` doubles. Throws `OutOfMemory`.
  Packet(Ctx& context, Index capacity)
      : there_(context, static_cast<std::size_t>(capacity)),
        here_(static_cast<std::size_t>(capacity)) {}

  /// Removes all parts.
  void clear() noexcept { used_ = 0; }

  /// Reserves a rows×cols matrix, which is valid until `clear`. An entry takes `kDoubles<W>`.
  template <class W = double>
  PartOf<W> add(Index rows, Index cols) noexcept {
    const Index begin = used_;
    used_ += rows * cols * kDoubles<W>;
    assert(used_ <= static_cast<Index>(here_.size()));
    return {{reinterpret_cast<W*>(there_.data() + begin), rows, cols, rows},
            {reinterpret_cast<W*>(here_.data() + begin), rows, cols, rows}};
  }

  /// The doubles that an entry of type W takes.
  template <class W>
  static constexpr Index kDoubles = static_cast<Index>(sizeof(W) / sizeof(double));

  /// Waits for the context's work and copies all parts to the host.
  void fetch(Ctx& context) {
    heddle::fetch(context, ConstSmallView<double, Space>{there_.data(), used_, 1, used_},
                  SmallView<double, HostSpace>{here_.data(), used_, 1, used_});
  }

 private:
  Buffer<double, Space> there_;
  std::vector<double> here_;
  Index used_ = 0;
};

}  // namespace heddle
