// CUs of which all WGs only send (mode role_split): how many, and whether that suits the run.
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

}  // namespace weft
