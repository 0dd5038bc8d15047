#include <dlfcn.h>
#include <dmumps_c.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/sanitizers.hpp>
#include <heddle/solvers/factor/one_thread.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::detail {
namespace {

/// MUMPS, loaded at run time: the sequential one brings functions with names of MPI, which must not
/// take the place of those of an MPI that the program uses.
class Library {
 public:
  static Library& instance() {
    static Library library;
    return library;
  }

  const char* missing() const noexcept { return missing_.c_str(); }

  /// MUMPS keeps state in variables of its own, so that one call runs at a time.
  void call(DMUMPS_STRUC_C& data) {
    const std::lock_guard lock(mutex_);
    const OneThread one_thread(handle_);
    call_(&data);
  }

 private:
  Library() {
#if defined(HEDDLE_ADDRESS_SANITIZER) || defined(HEDDLE_THREAD_SANITIZER)
    constexpr int kMode = RTLD_NOW | RTLD_LOCAL;  // sanitizers refuse the other flag
#else
    constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif
    handle_ = dlopen(HEDDLE_MUMPS_FILE, kMode);
    if (handle_ != nullptr) {
      call_ = reinterpret_cast<void (*)(DMUMPS_STRUC_C*)>(dlsym(handle_, "dmumps_c"));
    }
    if (call_ != nullptr) return;
    const char* error = dlerror();
    missing_ = fmt::format("MUMPS cannot be loaded: {} (Debian: libmumps-seq-dev)",
                           error == nullptr ? HEDDLE_MUMPS_FILE : error);
  }

  std::mutex mutex_;
  std::string missing_;
  void* handle_ = nullptr;
  void (*call_)(DMUMPS_STRUC_C*) = nullptr;
};

/// The tasks of a call.
enum Job { kStart = -1, kEnd = -2, kAnalyse = 1, kFactor = 2, kSolve = 3 };

/// The communicator that stands for the default one.
constexpr MUMPS_INT kDefaultCommunicator = -987654;

constexpr MUMPS_INT kStructurallySingular = -6;
constexpr MUMPS_INT kSingular = -10;
constexpr std::initializer_list<MUMPS_INT> kTooLittleRoom = {-8, -9, -14, -15, -17, -20};
constexpr std::initializer_list<MUMPS_INT> kNoMemory = {-7, -13, -19, -22};

/// The largest room for delayed pivots, in percent of the estimate.
constexpr MUMPS_INT kMostRoom = 2000;

class MumpsFactor final : public SymmetricFactor<double> {
 public:
  MumpsFactor(const CsrView<double, HostSpace>& lower, double max_bytes) : max_bytes_(max_bytes) {
    rows_.reserve(static_cast<std::size_t>(lower.nnz));
    columns_.reserve(static_cast<std::size_t>(lower.nnz));
    for (Index i = 0; i < lower.rows; ++i) {
      for (std::int64_t k = lower.row_offsets[i]; k < lower.row_offsets[i + 1]; ++k) {
        rows_.push_back(static_cast<MUMPS_INT>(i + 1));
        columns_.push_back(static_cast<MUMPS_INT>(lower.columns[k] + 1));
      }
    }
    data_.sym = 2;
    data_.par = 1;
    data_.comm_fortran = kDefaultCommunicator;
    run(kStart);
    choose();
    data_.n = static_cast<MUMPS_INT>(lower.rows);
    data_.nnz = lower.nnz;
    data_.irn = rows_.data();
    data_.jcn = columns_.data();
    run(kAnalyse);
    check("analysis");
    const double needed = 1e6 * static_cast<double>(data_.infog[15]);
    if (needed > max_bytes) throw_too_large(needed);
  }
  ~MumpsFactor() override { run(kEnd); }
  MumpsFactor(const MumpsFactor&) = delete;
  MumpsFactor& operator=(const MumpsFactor&) = delete;

  std::optional<PivotSigns> factor(const double* lower_values) override {
    data_.a = const_cast<double*>(lower_values);  // only read, as MUMPS does not scale
    for (;;) {
      run(kFactor);
      if (!failed_by(kTooLittleRoom) || icntl(14) >= kMostRoom) break;
      icntl(14) *= 2;
    }
    const MUMPS_INT status = data_.infog[0];
    if (status == kSingular || status == kStructurallySingular) return std::nullopt;
    check("factorisation");
    if (data_.infog[27] > 0) return std::nullopt;  // pivots that are 0 to rounding
    return PivotSigns{data_.infog[11]};
  }

  void solve(double* X, Index columns) override {
    data_.rhs = X;
    data_.nrhs = static_cast<MUMPS_INT>(columns);
    data_.lrhs = data_.n;
    run(kSolve);
    check("solve");
  }

  double entries() const noexcept override {
    const auto count = static_cast<double>(data_.infog[28]);
    return count < 0 ? -1e6 * count : count;  // MUMPS counts large ones in millions
  }

 private:
  /// Parameter i, counted from 1 as in the manual.
  MUMPS_INT& icntl(int i) { return data_.icntl[i - 1]; }

  void choose() {
    for (const int stream : {1, 2, 3, 4}) icntl(stream) = 0;  // prints nothing
    icntl(6) = 0;    // no permutation by values, so that one analysis serves all of them
    icntl(7) = 5;    // METIS, where MUMPS has it, else its own choice
    icntl(8) = 0;    // the matrix has been scaled
    icntl(12) = 1;   // the order of the pattern alone
    icntl(13) = 1;   // negative pivots are counted in the last front, too
    icntl(14) = 30;  // percent of room for delayed pivots
    icntl(24) = 1;   // counts pivots that are 0 to rounding
  }

  void run(Job job) {
    data_.job = job;
    Library::instance().call(data_);
  }

  bool failed_by(std::initializer_list<MUMPS_INT> causes) const {
    return std::find(causes.begin(), causes.end(), data_.infog[0]) != causes.end();
  }

  [[noreturn]] void throw_too_large(double needed) const {
    throw OutOfMemory(static_cast<std::size_t>(needed),
                      fmt::format("the factor of A - sigma B by MUMPS needs {:.0f} bytes, it may "
                                  "take {:.0f}",
                                  needed, max_bytes_));
  }

  void check(const char* what) const {
    const MUMPS_INT status = data_.infog[0];
    if (status >= 0) return;
    if (failed_by(kNoMemory) || failed_by(kTooLittleRoom)) {
      throw OutOfMemory(0, fmt::format("MUMPS found too little memory in its {}", what));
    }
    throw Error(fmt::format("MUMPS failed in its {} with INFOG(1) = {}, INFOG(2) = {}", what,
                            status, data_.infog[1]));
  }

  double max_bytes_;
  std::vector<MUMPS_INT> rows_, columns_;
  DMUMPS_STRUC_C data_{};
};

}  // namespace

const char* mumps_missing() { return Library::instance().missing(); }

std::unique_ptr<SymmetricFactor<double>> mumps_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes) {
  return std::make_unique<MumpsFactor>(lower, max_bytes);
}

}  // namespace heddle::detail
