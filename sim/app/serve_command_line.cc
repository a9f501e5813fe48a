#include "sim/app/serve_command_line.h"

#include "sim/app/jobs.h"

namespace weft {
namespace {

constexpr const char* kServeExample =
    "example:\n"
    "  weft run configs/scenarios/embedding_a2a_4_gpus.yaml -o results/node\n"
    "  weft serve results\n"
    "\n"
    "It prints an address with a token; open that in a browser. The page shows the results of the\n"
    "folder, runs their scenarios again with other values, and compares runs side by side.\n"
    "Without the token nothing is answered, and no file outside of the folder is shown. Ctrl-C\n"
    "ends it.\n"
    "exit status: 0 ended by Ctrl-C; 1 the folder is none, or the port is taken; 2 the system\n"
    "failed (cannot allocate)\n";

constexpr int kHighestPort = 65535;

}  // namespace

CLI::App* add_serve(CLI::App& app, ServeCommand& command) {
  CLI::App* serve =
      app.add_subcommand("serve", "Show results in a browser, change values, run again.");
  serve->footer(kServeExample);
  serve->add_option("DIR", command.folder, "Folder with results and scenarios; default: this one")
      ->type_name("DIR");
  serve->add_option("--port", command.port, "Port to listen at; 0 (default): a free one")
      ->type_name("N")
      ->check(CLI::Range(0, kHighestPort));
  serve
      ->add_option("--address", command.address,
                   "Address to listen at; default 127.0.0.1, which only this machine reaches")
      ->type_name("ADDRESS");
  serve->add_option("-j,--jobs", command.jobs, "Most cores that a run takes. Default: all")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  add_known(*serve, command.known, "none");
  return serve;
}

}  // namespace weft
