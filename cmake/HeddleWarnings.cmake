# GCC's optimiser warns inside headers of the system and of libraries where these are inlined, often
# without reason. These two functions see to it that nobody has to mend, or to read, what is not heddle's.
get_filename_component(heddle_warnings_dir ${CMAKE_CURRENT_LIST_DIR} REALPATH)

# heddle_own_warnings_are_errors(<target>): with HEDDLE_WERROR, the target is not built if a compiler
# warns of a line of the project. -Werror would make errors of warnings inside other headers, too.
function(heddle_own_warnings_are_errors target)
  if(NOT HEDDLE_WERROR)
    return()
  endif()
  get_filename_component(project ${heddle_warnings_dir} DIRECTORY)
  foreach(language CXX CUDA)
    set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER
      sh ${heddle_warnings_dir}/own-warnings.sh ${project} ${CMAKE_${language}_COMPILER_LAUNCHER})
  endforeach()
  # Its warnings name no line.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=--warning-as-error>)
endfunction()

# heddle_hide_alarms_in_headers(<target> <names...>): does without these warnings of GCC, which have
# false alarms in headers. With HEDDLE_WERROR, GCC 12 watches lines of the project for them. In which
# lines later versions have false alarms has not been looked at.
function(heddle_hide_alarms_in_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
     AND NOT (HEDDLE_WERROR AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13))
    list(TRANSFORM ARGN PREPEND -Wno-)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
  endif()
endfunction()
