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
  std::vector<Variant> doubles, singles;
  for (const char* loads : {"1", "2", "4"}) {
    for (const char* warps : {"16", "24", "32"}) {
      for (const char* unroll : {"1", "2", "3"}) {
        if (loads[0] != '1' && (unroll[0] == '3' || warps[0] == '4')) continue;
        doubles.push_back({"node_block", "n", {{"HEDDLE_NODE_LOADS", loads}, {"HEDDLE_NODE_WARPS", warps}, {"HEDDLE_NODE_UNROLL", unroll}}});
      }
    }
  }
  for (const char* threads : {"128", "256"}) {
    for (const char* warps : {"16", "20", "24", "32"}) {
      for (const char* stages : {"2", "3"}) {
        for (const char* round : {"0", "1"}) {
          if (stages[0] == '3' && (threads[0] == '2' || warps[0] != '2')) continue;
          singles.push_back({"node_block", "n", {{"HEDDLE_NODE_THREADS", threads}, {"HEDDLE_NODE_WARPS", warps}, {"HEDDLE_NODE_STAGES", stages}, {"HEDDLE_NODE_ROUND", round}}});
        }
      }
    }
  }
  if (argc > 2) {
    doubles = {{"node_block", "n", {{"HEDDLE_NODE_LOADS", argv[2]}, {"HEDDLE_NODE_WARPS", argv[3]}, {"HEDDLE_NODE_UNROLL", argv[4]}}}};
    probe<double>(context, host, size, {std::atol(argv[5])}, doubles);
    return 0;
  }
  for (const Index N : {10, 13, 16, 32, 64}) {
    auto some = doubles;
    std::erase_if(some, [&](const Variant& v) { return std::atoi(v.environment[0].second) > (N + 15) / 16; });
    probe<double>(context, host, size, {N}, some);
  }
  probe<float>(context, host, size, {10, 12, 13, 16}, singles);
  std::vector<Variant> few(singles.begin() + 8, singles.begin() + 12);
  probe<float>(context, host, size, {8, 32, 64}, few);
}
