#include "sim/files/program_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "sim/core/digest.h"
#include "sim/files/read_text.h"

namespace weft {
namespace {

std::size_t in_words(std::size_t size) { return (size + 3) / 4 * 4; }

// Empty: there is none among these notes.
std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  ElfW(Nhdr) note{};
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const std::size_t name = in_words(note.n_namesz);
    const std::size_t all = name + in_words(note.n_descsz);
    if (all > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == kOwner) {
      return std::string(notes.substr(name, note.n_descsz));
    }
    notes.remove_prefix(all);
  }
  return "";
}

std::string build_id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // Where it lies in memory is a number there.
    const auto* notes = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);  // NOLINT
    std::string id = build_id_in({notes, part.p_memsz});
    if (!id.empty()) return id;
  }
  return "";
}

int add_object(dl_phdr_info* object, std::size_t /*size*/, void* into) {
  const std::string_view name = object->dlpi_name;
  if (name.starts_with("linux-vdso")) return 0;  // the kernel's own; it computes nothing
  std::string id = build_id_of(*object);
  if (id.empty()) {
    ReadText read = read_text(name.empty() ? "/proc/self/exe" : object->dlpi_name);
    if (read.text) id = *std::move(read.text);
  }
  static_cast<Digest*>(into)->add_all(id);
  return 0;
}

}  // namespace

std::string program_id() {
  Digest digest;
  dl_iterate_phdr(add_object, &digest);
  const DigestValue value = digest.value();
  return fmt::format("{:016x}{:016x}", value.high, value.low);
}

}  // namespace weft
