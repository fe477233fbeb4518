#include "generator/compile/shared_object.h"

#include <elf.h>
#include <sys/utsname.h>

#include <cstdint>
#include <cstring>

namespace tmm {
namespace {

// The numbers of other machines are not known here: their loader refuses what is not theirs.
#if defined(__x86_64__)
constexpr const char* kMachine = "x86_64";
constexpr Elf64_Half kMachineNumber = EM_X86_64;
#elif defined(__aarch64__)
constexpr const char* kMachine = "aarch64";
constexpr Elf64_Half kMachineNumber = EM_AARCH64;
#else
constexpr const char* kMachine = nullptr;
constexpr Elf64_Half kMachineNumber = EM_NONE;
#endif

bool lies_within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
    return offset <= size && bytes <= size - offset;
}

}  // namespace

std::string host_machine() {
    if (kMachine) return kMachine;
    utsname system;
    return uname(&system) == 0 ? system.machine : "unknown";
}

bool is_shared_object(const std::vector<std::byte>& image) {
    Elf64_Ehdr header;
    if (image.size() < sizeof header) return false;
    std::memcpy(&header, image.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
        return false;
    if (kMachineNumber != EM_NONE && header.e_machine != kMachineNumber) return false;
    if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
    if (!lies_within(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize, image.size())) return false;
    // The section table comes last, so that a file which was cut short lacks it.
    if (!lies_within(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize, image.size())) return false;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && !lies_within(segment.p_offset, segment.p_filesz, image.size())) return false;
    }
    return true;
}

}  // namespace tmm
