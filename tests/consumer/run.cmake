# Installs the heddle built in BUILD_DIR under WORK_DIR and uses it as projects of others do: by its
# CMake package, which builds the examples, by pkg-config, and as a subdirectory. README's program is
# the first of the examples.
#   cmake -DBUILD_DIR=... -DWORK_DIR=... -DCXX=... -DMPIEXEC=... -P run.cmake

set(source_dir ${CMAKE_CURRENT_LIST_DIR}/../..)
set(prefix ${WORK_DIR}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The README's program is an example.
function(check_readme)
  file(READ ${source_dir}/examples/three_lines/three_lines.cpp program)
  file(READ ${source_dir}/README.md readme)
  string(FIND "${readme}" "```cpp\n${program}```" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "README.md does not hold the program in examples/three_lines")
  endif()
endfunction()

# Texts that every installation has.
function(check_texts)
  set(texts doc/heddle/LICENSE doc/heddle/CITATION.cff heddle/configs/quickstart.yaml
    heddle/heddle.schema.json zsh/site-functions/_heddle man/man5/heddle-config.5)
  foreach(program heddle heddle-lobpcg heddle-lanczos heddle-cg heddle-info heddle-spgemm heddle-spmm)
    if(NOT EXISTS ${prefix}/bin/${program})
      message(FATAL_ERROR "${program} is not installed")
    endif()
    list(APPEND texts man/man1/${program}.1 bash-completion/completions/${program})
  endforeach()
  foreach(text IN LISTS texts)
    if(NOT EXISTS ${prefix}/share/${text})
      message(FATAL_ERROR "share/${text} is not installed")
    endif()
  endforeach()
  run(bash -c "source ${prefix}/share/bash-completion/completions/heddle && complete -p heddle")
  find_program(MAN man)
  if(MAN)
    run(${MAN} -M ${prefix}/share/man --where heddle-solve heddle-spmm heddle-config)
  endif()
endfunction()

# The examples give the values that they know in closed form. 77: there is no GPU.
function(run_examples)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
  foreach(example three_lines own_csr matrix_free own_preconditioner spmm_plan)
    run(${WORK_DIR}/build/examples/${example}/${example})
  endforeach()
  set(gpu_arrays ${WORK_DIR}/build/examples/gpu_arrays/gpu_arrays)
  if(EXISTS ${gpu_arrays})
    execute_process(COMMAND ${gpu_arrays} COMMAND_ECHO STDOUT RESULT_VARIABLE code)
    if(NOT code MATCHES "^(0|77)$")
      message(FATAL_ERROR "gpu_arrays ends with ${code}")
    endif()
  endif()
  set(mpi ${WORK_DIR}/build/examples/mpi/mpi)
  if(EXISTS ${mpi})
    run(${mpi})
    run(${MPIEXEC} --oversubscribe --allow-run-as-root -n 2 ${mpi})
  endif()
endfunction()

function(use_pkg_config)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message(STATUS "without pkg-config its file is not tried")
    return()
  endif()
  file(GLOB_RECURSE file ${prefix}/heddle.pc)
  get_filename_component(folder "${file}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs heddle
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  run(${CXX} -std=c++20 ${source_dir}/examples/three_lines/three_lines.cpp -o ${WORK_DIR}/by_pkg_config ${flags})
  run(${WORK_DIR}/by_pkg_config)
endfunction()

# As a subdirectory heddle is the library alone, and warns where the project has no build type.
function(use_as_subdirectory build_type warns)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/subdirectory
    -DHEDDLE_SOURCE_DIR=${source_dir} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${build_type}
    COMMAND_ECHO STDOUT ERROR_VARIABLE warnings COMMAND_ERROR_IS_FATAL ANY)
  string(FIND "${warnings}" "heddle is compiled without optimisation" at)
  if((warns AND at EQUAL -1) OR (NOT warns AND NOT at EQUAL -1))
    message(FATAL_ERROR "with the build type '${build_type}' CMake says: ${warnings}")
  endif()
  file(READ ${WORK_DIR}/subdirectory/CMakeCache.txt cache)
  foreach(option CUDA NATIVE INSTALL BUILD_APPS BUILD_TESTS BUILD_LAB BUILD_FUZZERS)
    if(NOT cache MATCHES "\nHEDDLE_${option}:[A-Z]+=OFF\n")
      message(FATAL_ERROR "HEDDLE_${option} is not off where heddle is a subdirectory of a project")
    endif()
  endforeach()
endfunction()

check_readme()
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
check_texts()
run_examples()
use_pkg_config()
use_as_subdirectory("" ON)
use_as_subdirectory(Release OFF)
