// CUs of which all WGs only send (mode role_split): how many, and whether that suits the run. And
// who waits while something is sent.
#pragma once

#include <string>

#include "sim/report/measures.h"
#include "sim/report/run_report.h"

namespace weft {

// How many CUs of a GPU only send. 0 in other modes, and in whole models, whose pairs differ.
int sending_cus(const RunReport& report, const RunResult& result);

// " Too few CUs send: ..." or " Too few CUs compute: ...": whose WGs the others wait for long, and
// which way to change fused.sending_cus. Empty where neither holds, where links or memory are the
// limit, and where sending_cus() is 0.
std::string senders_text(const RunReport& report, const RunResult& result,
                         const Measures& measured);

// "WGs spend 5 % of their time posting, 3 % waiting for stores into peers", or that waves wait
// which only send; empty: hardly any.
std::string waits_text(const RunReport& report, Mode mode, const Measures& measured);

}  // namespace weft
