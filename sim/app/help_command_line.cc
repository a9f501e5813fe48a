#include "sim/app/help_command_line.h"

#include "sim/app/command_app.h"
#include "sim/scenario/listed.h"

namespace weft {
namespace {

constexpr const char* kExplainExample =
    "A map may have a base, a file with the keys that the map omits: 'base: gpus/mi300x' ('weft\n"
    "list' shows the available ones). A base's values are in its file, with their sources.\n"
    "\n"
    "examples: the fabric between nodes with all of its keys; several keys, each explained once\n"
    "  weft explain cluster.scale_out\n"
    "  weft explain run.seed run.repeats fused\n"
    "\n"
    "exit status: 0 done; 1 a key that there is not: all of them are told, with the nearest\n";

constexpr const char* kListExample =
    "The names are those that a base takes: 'base: gpus/mi300x'.\n"
    "\n"
    "example:\n"
    "  weft list clusters\n";

constexpr const char* kSchemaExample =
    "example:\n"
    "  weft schema > scenario.schema.json\n"
    "\n"
    "Then begin a scenario with this line, for editors with a YAML language server:\n"
    "  # yaml-language-server: $schema=scenario.schema.json\n";

constexpr const char* kCompletionExample =
    "example: completion in this shell\n"
    "  source <(weft completion bash)\n"
    "\n"
    "Permanently: bash: to ~/.local/share/bash-completion/completions/weft; zsh: to a file _weft "
    "in "
    "a\n"
    "folder in $fpath; fish: to ~/.config/fish/completions/weft.fish\n";

std::vector<std::string> words_of(const std::vector<ListLine>& things) {
  std::vector<std::string> words;
  words.reserve(things.size());
  for (const ListLine& thing : things) words.push_back(thing.word);
  return words;
}

}  // namespace

CLI::App* add_explain(CLI::App& app, ExplainCommand& command) {
  CLI::App* explain = app.add_subcommand("explain", "Explain the keys of a scenario.");
  explain->footer(kExplainExample);
  explain->add_option("KEY", command.keys, "Keys to explain, with those inside them; default: all")
      ->type_name("KEY");
  return explain;
}

CLI::App* add_list(CLI::App& app, ListCommand& command) {
  CLI::App* list = app.add_subcommand("list", "List what a scenario can name: GPUs, clusters ...");
  list->footer(kListExample);
  list->add_option("WHAT", command.what, "What to list; default: the kinds of lists")
      ->type_name("WHAT")
      ->check(one_of(words_of(listed_things())));
  return list;
}

CLI::App* add_schema(CLI::App& app, SchemaCommand& command) {
  CLI::App* schema =
      app.add_subcommand("schema", "Print a JSON Schema, with which editors complete and check.");
  schema->footer(kSchemaExample);
  schema
      ->add_option("FILE", command.file,
                   "Kind of file; results: titles, units and colours instead; default: scenario")
      ->type_name("WORD")
      ->check(one_of(schema_files()));
  return schema;
}

CLI::App* add_completion(CLI::App& app, CompletionCommand& command) {
  CLI::App* completion = app.add_subcommand("completion", "Print weft's completion for a shell.");
  completion->footer(kCompletionExample);
  completion->add_option("SHELL", command.shell, "The shell")
      ->type_name("SHELL")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  return completion;
}

CLI::App* add_man_page(CLI::App& app) {
  return app.add_subcommand("man", "Print the manual page.")->group("");
}

}  // namespace weft
