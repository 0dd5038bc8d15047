#include <benchmark/benchmark.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

/// Rates of reading and writing Matrix Market files, in bytes of text per second. The matrix is
/// symmetric with 4 million entries in its lower triangle, 17 digits each, at random columns.
namespace {

using heddle::HostContext;
using heddle::HostCsrMatrix;
using heddle::Index;
using heddle::Triplet;

constexpr Index kRows = 400'000;
constexpr Index kEntriesPerRow = 10;

HostCsrMatrix<double> make_matrix(HostContext& context) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<Triplet<double>> triplets;
  triplets.reserve(static_cast<std::size_t>(kRows * kEntriesPerRow));
  for (Index row = 0; row < kRows; ++row) {
    for (Index k = 0; k < kEntriesPerRow; ++k) {
      const auto col = static_cast<Index>(engine() % static_cast<std::uint64_t>(row + 1));
      triplets.push_back({row, col, value(engine)});
    }
  }
  return heddle::csr_from_triplets<double>(context, kRows, kRows, triplets);
}

/// The matrix, its plain and gzipped files, and its text. The files are deleted at the end of the
/// program.
class Sample {
 public:
  Sample() {
    std::filesystem::create_directories(folder_);
    heddle::write_matrix_market(plain(), matrix_.view(), true);
    std::ifstream stream(plain(), std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(stream), {});
    const gzFile file = gzopen(gzipped().c_str(), "wb");
    gzwrite(file, text_.data(), static_cast<unsigned>(text_.size()));
    gzclose(file);
  }
  ~Sample() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path plain() const { return folder_ / "matrix.mtx"; }
  std::filesystem::path gzipped() const { return folder_ / "matrix.mtx.gz"; }
  const std::string& text() const { return text_; }
  const HostCsrMatrix<double>& matrix() const { return matrix_; }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("heddle-matrix-market-bench-" + std::to_string(getpid()));
  HostContext context_;
  HostCsrMatrix<double> matrix_ = make_matrix(context_);
  std::string text_;
};

const Sample& sample() {
  static const Sample sample;
  return sample;
}

void count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * sample().matrix().nnz());
}

void read_plain(benchmark::State& state) {
  HostContext context(static_cast<int>(state.range(0)));
  const std::filesystem::path path = sample().plain();
  for (auto _ : state) heddle::read_matrix_market<double>(context, path);
  count(state, sample().text().size());
}

void read_gzipped(benchmark::State& state) {
  HostContext context(static_cast<int>(state.range(0)));
  const std::filesystem::path path = sample().gzipped();
  for (auto _ : state) heddle::read_matrix_market<double>(context, path);
  count(state, sample().text().size());
}

void parse_text(benchmark::State& state) {
  HostContext context(static_cast<int>(state.range(0)));
  const std::string& text = sample().text();
  for (auto _ : state) heddle::parse_matrix_market<double>(context, text, "text");
  count(state, sample().text().size());
}

void write_plain(benchmark::State& state) {
  const std::filesystem::path path = sample().plain().string() + ".copy";
  for (auto _ : state) heddle::write_matrix_market(path, sample().matrix().view(), true);
  count(state, sample().text().size());
}

void threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(read_plain)->Apply(threads);
BENCHMARK(read_gzipped)->Apply(threads);
BENCHMARK(parse_text)->Apply(threads);
BENCHMARK(write_plain)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
