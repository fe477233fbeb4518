// A bundle: one file with the chosen kernels of one GPU model, so that a program needs neither compiler nor database nor cache.
//
// The file has a header (magic, version, size, hash), a manifest in text, a table of kernels and their compressed images. The version is
// raised when older readers would take the file for something else; a library refuses versions that it does not know, and bundles whose
// kernels were made from other templates than its own, since it would give them other arguments. Problems and configs stand in the
// spellings of shapes files and --config, so that a field that is added later leaves old lines their meaning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "generator/compile/compiler.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/device_info.h"
#include "runtime/select/selection.h"

namespace tmm {

// Why a bundle is refused.
enum class BundleFault {
    unreadable,     // missing, no file, or one that this process may not or should not read
    invalid,        // no bundle, or a damaged one
    other_version,  // of another version of tmm
    other_device,
};
class BundleError : public Error {
public:
    BundleError(BundleFault fault, std::string what, std::string where, std::string remedy)
        : Error(ExitStatus::bad_input, std::move(what), std::move(where), std::move(remedy)), fault_(fault) {}
    BundleFault fault() const noexcept { return fault_; }

private:
    BundleFault fault_;
};

// What serves a problem, as it was chosen when the bundle was made.
struct BundleEntry {
    // In the one spelling (with_alignment) by which problems are compared.
    GemmProblem problem;
    KernelConfig config;
    Match match = Match::fallback;
    // As in Selection.
    double measured_us = 0;

    friend bool operator==(const BundleEntry&, const BundleEntry&) = default;
};

using BundleKernels = std::map<KernelIdentity, CompiledKernel>;

// The bytes of a bundle for this library. Compilers' logs are left out.
std::string encoded_bundle(const DeviceModel& device, const std::vector<BundleEntry>& entries, const BundleKernels& kernels);

// The same bytes with their number and their hash in the header, which they must have whole.
std::string sealed_bundle(std::string bytes);

// Immutable, so thread-safe.
class Bundle {
public:
    static constexpr std::uint32_t kVersion = 1;
    static constexpr std::int64_t kLargestFile = std::int64_t{1} << 30;

    // Both check all of it. Throw BundleError.
    static Bundle read(const std::filesystem::path& file);
    static Bundle decoded(std::string bytes, const std::string& name);

    // Throws BundleError where the bundle was made for another model.
    void check_device(const DeviceInfo& device) const;

    // The file's name.
    const std::string& name() const { return name_; }
    const DeviceModel& device() const { return device_; }
    const std::vector<BundleEntry>& entries() const { return entries_; }
    std::size_t kernel_count() const { return kernels_.size(); }
    // Not where the assembler got its spills wrong, as in bundles that were made before tmm looked for that; it is logged once.
    bool has(const KernelIdentity& identity) const { return place_of(identity) != nullptr; }
    // Nothing where the bundle does not have it, or has something for it that is no compressed image, which is logged.
    std::optional<CompiledKernel> find(const KernelIdentity& identity) const;

private:
    // What was found in a kernel that spills when it was first asked for.
    struct Inspection {
        std::once_flag done;
        bool is_wrong = false;
    };
    struct Place {
        KernelIdentity identity;
        int registers = -1;
        int spill_bytes = -1;
        // Where it stands in the file, compressed, and what it has without that.
        std::uint64_t offset = 0;
        std::uint64_t stored_bytes = 0;
        std::uint64_t image_bytes = 0;
        // Nothing where it does not spill.
        std::unique_ptr<Inspection> inspection;
    };

    Bundle() = default;
    // Nothing for a kernel that is wrong, too.
    const Place* place_of(const KernelIdentity& identity) const;
    bool is_wrong(const Place& place) const;
    // Nothing where that is no compressed image.
    std::optional<CompiledKernel> kernel_at(const Place& place) const;

    std::string bytes_;
    std::string name_;
    DeviceModel device_;
    std::vector<BundleEntry> entries_;
    // Ascending by identity.
    std::vector<Place> kernels_;

    friend class BundleReader;
};

}  // namespace tmm
