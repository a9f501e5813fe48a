# Writes a file of CTest with one test for each suite of a GoogleTest program, named like the suite.
#
#   cmake -DPROGRAM=... -DFOLDER=... -DFILE=... -P add_suites.cmake
#
# For programs of many short cases, where a process for each case takes longer than the cases.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE listed
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
set(tests "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.( |$)") # cases are indented
    set(suite ${CMAKE_MATCH_1})
    string(APPEND tests "add_test([[${suite}]] [[${PROGRAM}]] [[--gtest_filter=${suite}.*]])\n"
                        "set_tests_properties([[${suite}]] PROPERTIES WORKING_DIRECTORY [[${FOLDER}]])\n")
  endif()
endforeach()
if(tests STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} lists no suites")
endif()
file(WRITE ${FILE} "${tests}")
