# cmake -D COMPILER=... -D ROOT=... -D FILE=... -P expect_rejected.cmake
#
# FILE must compile as it is, and must not compile with WRONG defined, because of the line marked
# `// must not compile`. So neither a missing header nor a slip in the case passes for a rejection.
foreach(variable COMPILER ROOT FILE)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "${variable} is not given")
  endif()
endforeach()

set(compile ${COMPILER} -std=c++20 -fsyntax-only -fdiagnostics-color=never -I${ROOT})
execute_process(COMMAND ${compile} ${FILE} RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the right half of ${FILE} does not compile:\n${errors}")
endif()

execute_process(COMMAND ${compile} -DWRONG ${FILE} RESULT_VARIABLE status ERROR_VARIABLE errors)
if(status EQUAL 0)
  message(FATAL_ERROR "the wrong half of ${FILE} compiles")
endif()

execute_process(COMMAND grep -n "// must not compile$" ${FILE} OUTPUT_VARIABLE marked)
if(NOT marked MATCHES "^([0-9]+):[^\n]*\n$")
  message(FATAL_ERROR "${FILE} needs exactly one line that ends in `// must not compile`")
endif()
set(line ${CMAKE_MATCH_1})
get_filename_component(name ${FILE} NAME)
string(REPLACE "." "\\." name ${name})
if(NOT errors MATCHES "${name}:${line}:[0-9]+: error:")
  message(FATAL_ERROR "${FILE} is rejected, but not for line ${line}:\n${errors}")
endif()
