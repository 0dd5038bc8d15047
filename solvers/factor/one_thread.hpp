#pragma once

#include <dlfcn.h>
#include <omp.h>

namespace heddle::detail {

/// While this object lives, a library and its BLAS use one thread: rounding errors then do not
/// depend on the number of threads, and no second pool of threads competes with heddle's. Libraries
/// start OpenMP regions with a fixed number of threads. OpenBLAS has threads of its own. The
/// caller's settings are restored at the end.
class OneThread {
 public:
  /// `library`: the handle of `dlopen` in whose scope the BLAS is looked for.
  explicit OneThread(void* library = RTLD_DEFAULT)
      : get_blas_threads_(loaded<int()>(library, "openblas_get_num_threads")),
        set_blas_threads_(get_blas_threads_ == nullptr
                              ? nullptr
                              : loaded<void(int)>(library, "openblas_set_num_threads")),
        blas_threads_(set_blas_threads_ == nullptr ? 1 : get_blas_threads_()) {
    omp_set_max_active_levels(0);
    if (set_blas_threads_ != nullptr) set_blas_threads_(1);
  }
  ~OneThread() {
    if (set_blas_threads_ != nullptr) set_blas_threads_(blas_threads_);
    omp_set_num_threads(omp_threads_);  // a BLAS with OpenMP has changed it
    omp_set_max_active_levels(levels_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  template <class Function>
  static Function* loaded(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }

  int levels_ = omp_get_max_active_levels();
  int omp_threads_ = omp_get_max_threads();
  int (*get_blas_threads_)();
  void (*set_blas_threads_)(int);
  int blas_threads_;
};

}  // namespace heddle::detail
