// Whoever may write to a directory may rename what is in it, so every directory from the root on counts. One with the sticky bit lets only
// owners rename what is theirs: there the owner of the next part of the path counts.
#include "base/files/trusted_path.h"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text/environment.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;

// In a user namespace the files of all users outside it, root among them, seem to belong to this one.
std::optional<uid_t> outer_users() {
    std::ifstream map("/proc/self/uid_map");
    unsigned long long inside = 0, outside = 0, count = 0;
    constexpr unsigned long long kAll = 4294967295;
    if (!(map >> inside >> outside >> count) || count == kAll) return std::nullopt;
    uid_t user = 65534;
    std::ifstream("/proc/sys/kernel/overflowuid") >> user;
    return user;
}

bool is_trusted(uid_t owner) {
    return owner == 0 || owner == geteuid() || owner == outer_users();
}

// The group of the user's own name, which systems with the umask 002 give to each user, or root's.
bool is_private(gid_t group) {
    if (group == 0) return true;
    std::vector<char> for_group(1 << 14), for_user(1 << 14);
    struct group entry {};
    struct group* found_group = nullptr;
    passwd user{};
    passwd* found_user = nullptr;
    if (getgrgid_r(group, &entry, for_group.data(), for_group.size(), &found_group) != 0 || !found_group) return false;
    if (getpwuid_r(geteuid(), &user, for_user.data(), for_user.size(), &found_user) != 0 || !found_user) return false;
    if (user.pw_gid != group || std::string_view(entry.gr_name) != user.pw_name) return false;
    for (char** member = entry.gr_mem; member && *member; ++member)
        if (std::string_view(*member) != user.pw_name) return false;
    return true;
}

// below_sticky: anybody may have put it there, and can't replace what another has put there.
std::string fault_of(const struct stat& status, bool below_sticky, NamedBy by) {
    const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((by == NamedBy::chance || below_sticky) && !is_trusted(status.st_uid))
        return fmt::format("belongs to the user {}", static_cast<long>(status.st_uid));
    if ((status.st_mode & S_IWOTH) != 0 && !is_sticky) return "can be written to by everybody";
    if (by == NamedBy::chance && (status.st_mode & S_IWGRP) != 0 && !is_sticky && !is_private(status.st_gid))
        return fmt::format("can be written to by the group {}", static_cast<long>(status.st_gid));
    return {};
}

}  // namespace

NamedBy who_named(const fs::path& path) {
    return path.is_absolute() ? NamedBy::person : NamedBy::chance;
}

std::string why_others_can_replace(const fs::path& path, NamedBy by) {
    if (runs_with_raised_privileges()) by = NamedBy::chance;
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error) return fmt::format("{} can't be looked at: {}", path.string(), error.message());
    fs::path part;
    bool below_sticky = false;
    for (const fs::path& name : whole) {
        part /= name;
        struct stat status;
        if (lstat(part.c_str(), &status) != 0) return fmt::format("{} can't be looked at", part.string());
        if (const std::string fault = fault_of(status, below_sticky, by); !fault.empty()) return part.string() + " " + fault;
        below_sticky = (status.st_mode & S_ISVTX) != 0 && (status.st_mode & (S_IWOTH | S_IWGRP)) != 0;
    }
    return {};
}

}  // namespace tmm
