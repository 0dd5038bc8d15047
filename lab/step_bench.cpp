// Steps of Chebyshev recurrences as one product with an epilogue, against a product and passes over
// blocks, on the host or on a GPU: milliseconds, and the compulsory traffic of the one pass as a
// fraction of the copy bandwidth measured in the same run.
//
// usage: step_bench host|cuda STRUCTURE SIZE N [KERNEL...]     as: step_bench cuda laplace3d 100 16
//        SIZE: one number for three directions, or all numbers, as 16384x512; N: as 16 or 16,32
//        a GPU without KERNEL: all kernels of its table

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/spmm.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace heddle {
namespace {

void synchronize(HostContext&) {}
#ifdef HEDDLE_HAS_CUDA
void synchronize(CudaContext& context) { context.synchronize(); }
#endif

/// Milliseconds per call of each work: the median of rounds in which all take turns.
template <class Ctx>
std::vector<double> in_turns(Ctx& context, const std::vector<std::function<void()>>& works) {
  constexpr int kRounds = 9;
  constexpr int kRuns = 5;
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round <= kRounds; ++round) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      synchronize(context);
      const auto begin = Clock::now();
      for (int run = 0; run < kRuns; ++run) works[w]();
      synchronize(context);
      const double spent = seconds_since(begin);
      if (round > 0) times[w].push_back(1e3 * spent / kRuns);
    }
  }
  std::vector<double> medians;
  for (auto& list : times) medians.push_back(heddle::median(std::move(list)));
  return medians;
}

/// Steps with the matrix of one plan and four blocks.
template <Scalar T, class Ctx>
class Steps {
 public:
  using Space = typename Ctx::Space;

  Steps(Ctx& context, const CsrMatrix<T, Space>& A, Index N)
      : context_(context),
        A_(A),
        B_(context, A.rows(), N),
        C_(context, A.rows(), N),
        X_(context, A.rows(), N),
        Y_(context, A.rows(), N) {
    for (MultiVector<T, Space>* block : {&B_, &C_, &X_, &Y_}) {
      fill_random<T>(context, 1, 0, block->view());
    }
  }

  void measure(const std::string& kernel) {
    const SpmmPlan<T, Ctx> plan(context_, A_.view(), {kernel});
    const auto product = [&](T beta) {
      plan.multiply(context_, kAlpha, B_.view(), beta, C_.view());
    };
    const auto fused = [&](const SpmmEpilogue<T, Space>& epilogue) {
      return [this, &plan, epilogue] {
        plan.multiply(context_, kAlpha, B_.view(), epilogue, C_.view());
      };
    };
    const double copied = 2.0 * static_cast<double>(A_.rows() * B_.cols()) * sizeof(T);
    const auto report = [&](const char* step, int blocks, const std::function<void()>& passes,
                            const std::function<void()>& one_pass) {
      const auto ms =
          in_turns(context_, {passes, one_pass, [&] { copy<T>(context_, X_.view(), Y_.view()); }});
      const double bytes = plan.compulsory_bytes(B_.cols()) +
                           (blocks - 2) * copied / 2;  // C and B are in the plan's
      fmt::print(
          "{:<18} {:<11} passes {:>8.4f} ms   one pass {:>8.4f} ms   {:>5.2f}   {:>6.0f} "
          "GB/s, {:.2f} of a copy\n",
          plan.kernel(B_.cols()), step, ms[0], ms[1], ms[0] / ms[1], 1e-6 * bytes / ms[1],
          bytes / ms[1] / (copied / ms[2]));
      std::fflush(stdout);
    };
    const auto plain = fused({});
    report("product", 2, plain, plain);
    report(
        "iteration", 4, [&] { axpby<T>(context_, 0.3, X_.view(), -0.2, C_.view()), product(1); },
        fused({.beta = T(-0.2), .delta = T(0.3), .X = X_.view()}));
    report(
        "polynomial", 3, [&] { axpby<T>(context_, 0.3, B_.view(), -1, C_.view()), product(1); },
        fused({.beta = T{-1}, .gamma = T(0.3)}));
    report(
        "series", 5,
        [&] {
          axpby<T>(context_, 0.3, B_.view(), -1, C_.view());
          product(1);
          axpby<T>(context_, 0.01, C_.view(), 1, Y_.view());
        },
        fused({.beta = T{-1}, .gamma = T(0.3), .eta = T(0.01), .Y = Y_.view()}));
  }

 private:
  static constexpr T kAlpha = T(0.01);

  Ctx& context_;
  const CsrMatrix<T, Space>& A_;
  MultiVector<T, Space> B_, C_, X_, Y_;
};

template <Scalar T, class Ctx>
void measure(Ctx& context, const GallerySpec& spec, const std::vector<Index>& widths,
             const std::vector<std::string>& kernels) {
  HostContext host;
  const auto A = place(context, generate<T>(host, spec));
  for (const Index N : widths) {
    fmt::print("{} {}, {} rows, N = {}, {} bytes per value\n", spec.name, fmt::join(spec.size, "x"),
               A.rows(), N, sizeof(T));
    Steps<T, Ctx> steps(context, A, N);
    for (const std::string& kernel : kernels) steps.measure(kernel);
  }
}

template <class Ctx>
void run(const GallerySpec& spec, const std::vector<Index>& widths,
         std::vector<std::string> kernels) {
  Ctx context;
  if (kernels.empty()) {
    kernels = {"auto"};
    if constexpr (!std::is_same_v<Ctx, HostContext>) {
      for (const auto name : spmm_kernels(context)) kernels.emplace_back(name);
    }
  }
  measure<double>(context, spec, widths, kernels);
  measure<float>(context, spec, widths, kernels);
}

/// The numbers of a text with a separator between them.
std::vector<Index> numbers(const std::string& text, char separator) {
  std::vector<Index> all;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, separator);) {
    all.push_back(std::stol(number));
  }
  return all;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) try {
  using namespace heddle;
  if (argc < 5) throw InvalidArgument("usage: step_bench host|cuda STRUCTURE SIZE N [KERNEL...]");
  std::vector<Index> size = numbers(argv[3], 'x');
  if (size.size() == 1) size.resize(3, size.front());
  const GallerySpec spec{argv[2], size};
  const std::vector<Index> widths = numbers(argv[4], ',');
  const std::vector<std::string> kernels(argv + 5, argv + argc);
  if (argv[1] == std::string("host")) {
    run<HostContext>(spec, widths, kernels);
    return 0;
  }
#ifdef HEDDLE_HAS_CUDA
  run<CudaContext>(spec, widths, kernels);
  return 0;
#else
  throw InvalidArgument("this build has no CUDA");
#endif
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
