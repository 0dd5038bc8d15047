# Sets HEDDLE_NVCC, the CUDA compiler or NOTFOUND, and HEDDLE_GPU: whether an NVIDIA GPU of this
# machine responds.

find_program(HEDDLE_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(HEDDLE_NVCC)
set(HEDDLE_GPU OFF)
execute_process(COMMAND nvidia-smi -L
  OUTPUT_VARIABLE heddle_gpus RESULT_VARIABLE heddle_gpus_failed ERROR_QUIET)
if(NOT heddle_gpus_failed AND heddle_gpus MATCHES "^GPU")
  set(HEDDLE_GPU ON)
endif()
