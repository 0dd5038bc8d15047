#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/spmm.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace heddle;

double time_of(CudaContext& context, const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < 4; ++round) {
    context.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int run = 0; run < 10; ++run) work();
    context.synchronize();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (round > 0) times.push_back(1e3 * spent.count() / 10);
  }
  std::sort(times.begin(), times.end());
  return times[1];
}

struct Variant {
  const char* kernel;
  const char* order;
  std::vector<std::pair<const char*, const char*>> environment;
};

template <class T>
void probe(CudaContext& context, HostContext& host, Index size, const std::vector<Index>& widths,
           const std::vector<Variant>& variants) {
  const auto A = place(context, generate<T>(host, {"elasticity3d", {size, size, size}}));
  std::vector<std::unique_ptr<SpmmPlan<T, CudaContext>>> plans;
  SpmmPlan<T, CudaContext> reference(context, A.view(), {"row_split"});
  std::map<std::string, std::shared_ptr<SpmmPlan<T, CudaContext>>> made;
  for (const Index N : widths) {
    MultiVector<T, DeviceSpace> B(context, A.rows(), N), C(context, A.rows(), N),
        X(context, A.rows(), N), R(context, A.rows(), N);
    fill_random<T>(context, 1, 0, B.view());
    fill_random<T>(context, 1, 0, X.view());
    reference.multiply(context, T(1), B.view(), T(0), R.view());
    std::vector<T> expected(static_cast<std::size_t>(R.ld() * std::min<Index>(A.rows(), 50000)));
    auto got = expected;
    context.copy_to_host(expected.data(), R.view().data(), expected.size() * sizeof(T));
    const double copy_ms = time_of(context, [&] { copy<T>(context, X.view(), R.view()); });
    const double bw = 2.0 * double(A.rows() * N) * sizeof(T) / copy_ms;
    fmt::print("N {} {} bytes, copy {:.0f} GB/s\n", N, sizeof(T), bw * 1e-6);
    for (const Variant& v : variants) {
      std::string all;
      setenv("HEDDLE_NODE_ORDER", v.order, 1);
      for (const char* name : {"HEDDLE_NODE_LANES"}) {
        unsetenv(name);
      }
      for (const auto& [name, value] : v.environment) {
        setenv(name, value, 1);
        all += std::string(" ") + std::string(name + 12, 2) + value;
      }
      auto& plan = made[std::string(v.kernel) + v.order];
      if (!plan) plan = std::make_shared<SpmmPlan<T, CudaContext>>(context, A.view(), SpmmOptions{v.kernel});
      plan->multiply(context, T(1), B.view(), T(0), C.view());
      context.copy_to_host(got.data(), C.view().data(), got.size() * sizeof(T));
      double worst = 0;
      for (Index i = 0; i < std::min<Index>(A.rows(), 50000); ++i) {
        for (Index j = 0; j < N; ++j) {
          const auto at = static_cast<std::size_t>(i * C.ld() + j);
          const double d = std::abs(double(got[at]) - double(expected[at]));
          worst = d > worst || std::isnan(d) ? d : worst;
        }
      }
      const double plain =
          time_of(context, [&] { plan->multiply(context, T(1), B.view(), T(0), C.view()); });
      const SpmmEpilogue<T, DeviceSpace> e{.beta = T(-0.2), .delta = T(0.3), .X = X.view()};
      const double step =
          time_of(context, [&] { plan->multiply(context, T(0.01), B.view(), e, C.view()); });
      fmt::print("  {} {} {} {:.4f} ms {:.3f} step {:.4f} err {:.0e}\n",
                 v.kernel, v.order, all, plain, plan->compulsory_bytes(N) / 4.27e9 / plain, step, worst);
      std::fflush(stdout);
    }
  }
}

int main(int argc, char** argv) {
  CudaContext context;
  HostContext host;
  const Index size = argc > 1 && std::atol(argv[1]) > 0 ? std::atol(argv[1]) : 56;
  std::vector<Variant> variants;
  const auto block = [&](const char* loads, const char* threads, const char* warps, const char* stages, const char* rotate) {
    variants.push_back({"node_block", "n", {{"HEDDLE_NODE_LOADS", loads}, {"HEDDLE_NODE_THREADS", threads}, {"HEDDLE_NODE_WARPS", warps}, {"HEDDLE_NODE_STAGES", stages}, {"HEDDLE_NODE_ROTATE", rotate}}});
  };
  const auto panel = [&](const char* order, const char* loads, const char* blocks) {
    variants.push_back({"node_panel", order, {{"HEDDLE_NODE_LOADS", loads}, {"HEDDLE_NODE_BLOCKS", blocks}}});
  };
  if (argc > 6) {
    if (argv[1][0] == 'p') panel(argv[2], argv[3], argv[4]); else block(argv[3], argv[4], argv[5], argv[6], "1");
  } else {
    block("1", "128", "24", "3", "0");
    block("1", "128", "24", "2", "0");
    block("1", "256", "24", "2", "0");
    block("2", "128", "16", "3", "0");
    block("2", "128", "16", "3", "1");
    block("2", "128", "24", "3", "1");
    block("2", "512", "16", "3", "1");
    block("2", "128", "16", "2", "1");
    block("4", "128", "16", "3", "0");
    block("4", "128", "16", "3", "1");
    for (const char* order : {"n", "g8"}) {
      panel(order, "1", "4");
      panel(order, "1", "5");
      panel(order, "1", "6");
      panel(order, "2", "3");
      panel(order, "2", "4");
      panel(order, "4", "2");
      panel(order, "4", "3");
    }
  }
  const std::vector<Index> widths = argc > 7 ? std::vector<Index>{std::atol(argv[7])} : std::vector<Index>{8, 12, 16, 32, 64};
  probe<double>(context, host, size, widths, variants);
  if (argc <= 7) probe<float>(context, host, size, {12, 16, 32}, variants);
}
