#include "runtime/bundle/bundle.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "base/command_line/tool_description.h"
#include "base/files/locked_temporary.h"
#include "base/files/trusted_path.h"
#include "base/log.h"
#include "base/text/printable.h"
#include "generator/compile/spill_guards.h"
#include "generator/kernel/template_files.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr char kMagic[8] = {'t', 'm', 'm', 'b', 'n', 'd', 'l', '\n'};

// Numbers are little-endian, as on every machine that tmm runs on.
struct Header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t kernels;
    std::uint64_t file_bytes;
    std::uint64_t manifest_bytes;
    // Hash of the whole file with these two 0.
    std::uint64_t hash[2];
};
static_assert(sizeof(Header) == 48);

struct TableRow {
    std::uint64_t identity[2];
    std::int32_t registers;
    std::int32_t spill_bytes;
    std::uint64_t offset;
    std::uint64_t stored_bytes;
    std::uint64_t image_bytes;
};
static_assert(sizeof(TableRow) == 48);

// zlib's format makes no image more than so many times as small.
constexpr std::uint64_t kMostCompression = 1100;

constexpr const char* kMakeAgain = "make it again: tmm-db bundle";

XXH128_hash_t hash_of_file(std::string_view file) {
    Header header;
    std::memcpy(&header, file.data(), sizeof header);
    header.hash[0] = header.hash[1] = 0;
    const std::uint64_t seed = XXH3_64bits(&header, sizeof header);
    return XXH3_128bits_withSeed(file.data() + sizeof header, file.size() - sizeof header, seed);
}

// What the kernels of a device are made from besides their stubs, in a hash: kernels of another text take other arguments.
std::string templates_hash(bool emulated) {
    std::string text = emulated ? host_code_kind() : "";
    for (const auto& [name, content] : active_templates())
        if (emulated || !name.starts_with("host/")) text.append(name).append(1, '\0').append(content).append(1, '\0');
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string text_of(const BundleEntry& entry) {
    return fmt::format("{}\t{}\t{}\t{}\n", name_of(entry.match), entry.measured_us, to_text(entry.problem), to_text(entry.config));
}

std::string manifest_of(const DeviceModel& device, const std::vector<BundleEntry>& entries) {
    std::string text = fmt::format("tmm {}\ntemplates {}\ndevice {}\ncompute_capability {}\nsm_count {}\n", tool_version(),
                                   templates_hash(is_emulated(device)), printable(device.name), device.compute_capability, device.sm_count);
    if (is_emulated(device)) text += fmt::format("cpu {}\n", printable(host_cpu()));
    for (const BundleEntry& entry : entries) text += text_of(entry);
    return text;
}

std::string compressed(const std::vector<std::byte>& image) {
    uLongf size = compressBound(image.size());
    std::string stored(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(stored.data()), &size, reinterpret_cast<const Bytef*>(image.data()), image.size(),
                  Z_BEST_COMPRESSION) != Z_OK)
        throw std::bad_alloc();
    stored.resize(size);
    return stored;
}

template <typename Value>
void append(std::string& bytes, const Value& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string encoded_bundle(const DeviceModel& device, const std::vector<BundleEntry>& entries, const BundleKernels& kernels) {
    const std::string manifest = manifest_of(device, entries);
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = Bundle::kVersion;
    header.kernels = static_cast<std::uint32_t>(kernels.size());
    header.manifest_bytes = manifest.size();
    const std::uint64_t images_begin = sizeof header + manifest.size() + kernels.size() * sizeof(TableRow);
    std::string table, images;
    for (const auto& [identity, kernel] : kernels) {
        const std::string stored = compressed(kernel.image);
        append(table, TableRow{.identity = {identity.high, identity.low},
                               .registers = kernel.registers,
                               .spill_bytes = kernel.spill_bytes,
                               .offset = images_begin + images.size(),
                               .stored_bytes = stored.size(),
                               .image_bytes = kernel.image.size()});
        images += stored;
    }
    std::string bytes;
    append(bytes, header);
    bytes.append(manifest).append(table).append(images);
    return sealed_bundle(std::move(bytes));
}

std::string sealed_bundle(std::string bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.file_bytes = bytes.size();
    std::memcpy(bytes.data(), &header, sizeof header);
    const XXH128_hash_t hash = hash_of_file(bytes);
    header.hash[0] = hash.low64;
    header.hash[1] = hash.high64;
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

// Reads the parts of a file in their order. Whoever writes a bundle can write the right hash, too, so that nothing in it is taken on trust.
class BundleReader {
public:
    BundleReader(std::string bytes, const std::string& name) {
        bundle_.bytes_ = std::move(bytes);
        bundle_.name_ = name;
    }

    Bundle read() && {
        read_header();
        std::string_view manifest(bundle_.bytes_.data() + sizeof(Header), header_.manifest_bytes);
        read_manifest(manifest);
        read_table();
        return std::move(bundle_);
    }

private:
    [[noreturn]] void fail(BundleFault fault, const std::string& what, const std::string& remedy = kMakeAgain) const {
        throw BundleError(fault, what, bundle_.name_, remedy);
    }
    [[noreturn]] void fail_damaged(const std::string& what) const { fail(BundleFault::invalid, "the bundle is damaged: " + what); }

    void read_header() {
        const std::string& bytes = bundle_.bytes_;
        if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, std::min(bytes.size(), sizeof kMagic)) != 0)
            fail(BundleFault::invalid, "this is no bundle of tmm's", "name a file that tmm-db bundle made");
        if (bytes.size() < sizeof header_) fail_damaged(fmt::format("it ends after {} bytes", bytes.size()));
        std::memcpy(&header_, bytes.data(), sizeof header_);
        if (header_.version != Bundle::kVersion)
            fail(BundleFault::other_version,
                 fmt::format("the bundle has format {}, and this library, tmm {}, reads format {}", header_.version, tool_version(),
                             Bundle::kVersion),
                 header_.version > Bundle::kVersion ? "use the library that the bundle was made with, or a newer one" : kMakeAgain);
        if (header_.file_bytes != bytes.size()) fail_damaged(fmt::format("it has {} bytes of {}", bytes.size(), header_.file_bytes));
        const XXH128_hash_t hash = hash_of_file(bytes);
        if (hash.low64 != header_.hash[0] || hash.high64 != header_.hash[1]) fail_damaged("its content does not have its hash");
        const std::uint64_t content = bytes.size() - sizeof header_;
        if (header_.manifest_bytes > content || header_.kernels > (content - header_.manifest_bytes) / sizeof(TableRow))
            fail_damaged("its parts are larger than the file");
    }

    // The next line's value, which stands behind its key.
    std::string_view value_of(std::string_view& manifest, std::string_view key) const {
        const std::string_view line = next_line(manifest);
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ')
            fail_damaged(fmt::format("it does not say its {}", key));
        return line.substr(key.size() + 1);
    }
    std::string_view next_line(std::string_view& text) const {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) fail_damaged("its manifest ends within a line");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        return line;
    }
    int number_of(std::string_view& manifest, std::string_view key, int most) const {
        const std::string_view text = value_of(manifest, key);
        int value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
            fail_damaged(fmt::format("{} is no {}", in_quotes(text), key));
        return value;
    }

    void read_manifest(std::string_view manifest) {
        const std::string made_by(value_of(manifest, "tmm"));
        const std::string templates(value_of(manifest, "templates"));
        DeviceModel& device = bundle_.device_;
        device.name = value_of(manifest, "device");
        if (printable(device.name) != device.name) fail_damaged("its device has no name that can be shown");
        constexpr int kMost = 1'000'000;
        device.compute_capability = number_of(manifest, "compute_capability", kMost);
        device.sm_count = number_of(manifest, "sm_count", kMost);
        if (is_emulated(device) && manifest.starts_with("cpu ")) check_cpu(value_of(manifest, "cpu"));
        // Kernels of another version would be given arguments that they do not know.
        if (templates != templates_hash(is_emulated(device)))
            fail(BundleFault::other_version,
                 fmt::format("the bundle was made by tmm {} from other kernels than this library's, tmm {}{}", printable(made_by),
                             tool_version(), is_emulated(device) ? ", or with other options of the compiler" : ""),
                 "make it again with the tmm-db of this library's version");
        while (!manifest.empty()) bundle_.entries_.push_back(entry_of(next_line(manifest)));
    }

    void check_cpu(std::string_view cpu) const {
        if (cpu == printable(host_cpu())) return;
        fail(BundleFault::other_device,
             fmt::format("the bundle was made for another CPU, {}: this one is {}", in_quotes(cpu), in_quotes(host_cpu())),
             "make one on a machine of this kind: tmm-db bundle --gpu host");
    }

    BundleEntry entry_of(std::string_view line) const {
        std::vector<std::string_view> fields;
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t end = std::min(line.find('\t', begin), line.size());
            fields.push_back(line.substr(begin, end - begin));
            begin = end + 1;
        }
        if (fields.size() != 4) fail_damaged(fmt::format("{} is no entry", in_quotes(line)));
        BundleEntry entry{.problem = {}, .config = {}, .match = match_of(fields[0]), .measured_us = time_of(fields[1])};
        try {
            const GemmProblem problem = parse_shape(fields[2]).problem;
            entry.problem = with_alignment(problem, problem.alignment);
            entry.config = parse_config(fields[3]);
        } catch (const Error& error) {
            fail_damaged(fmt::format("{}: {}", in_quotes(line), error.what()));
        }
        return entry;
    }
    Match match_of(std::string_view text) const {
        for (const Match match : {Match::exact, Match::near, Match::predicted, Match::fallback})
            if (text == name_of(match)) return match;
        fail_damaged(fmt::format("{} is no match", in_quotes(text)));
    }
    double time_of(std::string_view text) const {
        constexpr double kMost = 1e12;
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= kMost))
            fail_damaged(fmt::format("{} is no time", in_quotes(text)));
        return value;
    }

    void read_table() {
        const std::string& bytes = bundle_.bytes_;
        const std::uint64_t table = sizeof header_ + header_.manifest_bytes;
        const std::uint64_t images = table + std::uint64_t{header_.kernels} * sizeof(TableRow);
        for (std::uint32_t i = 0; i < header_.kernels; ++i) {
            TableRow row;
            std::memcpy(&row, bytes.data() + table + i * sizeof row, sizeof row);
            Bundle::Place place{.identity = {row.identity[0], row.identity[1]},
                                .registers = row.registers,
                                .spill_bytes = row.spill_bytes,
                                .offset = row.offset,
                                .stored_bytes = row.stored_bytes,
                                .image_bytes = row.image_bytes,
                                .inspection = row.spill_bytes > 0 ? std::make_unique<Bundle::Inspection>() : nullptr};
            if (row.offset < images || row.offset > bytes.size() || row.stored_bytes == 0 || row.stored_bytes > bytes.size() - row.offset ||
                row.image_bytes == 0 || row.image_bytes > row.stored_bytes * kMostCompression)
                fail_damaged(fmt::format("kernel {} does not stand in it", i));
            if (row.registers < -1 || row.spill_bytes < -1) fail_damaged(fmt::format("kernel {} has numbers that none has", i));
            if (i > 0 && !(bundle_.kernels_.back().identity < place.identity)) fail_damaged("its kernels are not in order");
            bundle_.kernels_.push_back(std::move(place));
        }
    }

    Bundle bundle_;
    Header header_{};
};

Bundle Bundle::decoded(std::string bytes, const std::string& name) {
    return BundleReader(std::move(bytes), name).read();
}

Bundle Bundle::read(const std::filesystem::path& path) {
    const std::string name = path.string();
    const auto fail = [&](const std::string& what, const std::string& remedy) {
        throw BundleError(BundleFault::unreadable, "the bundle can't be read: " + what, name, remedy);
    };
    // A FIFO without a writer would hold up the program.
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) fail(std::strerror(errno), "name a file that tmm-db bundle made");
    if (S_ISDIR(status.st_mode)) fail("it is a directory", "name the file in it");
    if (!S_ISREG(status.st_mode)) fail("it is no file", "name a file that tmm-db bundle made");
    if (status.st_size > kLargestFile)
        fail(fmt::format("it has {} bytes, more than the {} that a bundle has at most", status.st_size, kLargestFile), kMakeAgain);
    // It holds machine code, which the program is about to run.
    if (const std::string fault = why_others_can_replace(path, NamedBy::person); !fault.empty())
        fail(fault, "put it where nobody else may write");
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(std::strerror(errno), "see to the file's disk, or copy the bundle elsewhere");
        // It became shorter meanwhile: the size that it says tells.
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    bytes.resize(done);
    return decoded(std::move(bytes), name);
}

void Bundle::check_device(const DeviceInfo& device) const {
    if (model_of(device) == device_) return;
    const auto words = [](const DeviceModel& of) {
        return fmt::format("{} (compute capability {}.{}, {} SMs)", of.name, of.compute_capability / 10, of.compute_capability % 10,
                           of.sm_count);
    };
    throw BundleError(BundleFault::other_device,
                      fmt::format("the bundle was made for another device, {}: this one is {}", words(device_), words(model_of(device))),
                      name_, "make one for this device: tmm-db bundle --gpu NAME");
}

const Bundle::Place* Bundle::place_of(const KernelIdentity& identity) const {
    const auto found = std::lower_bound(kernels_.begin(), kernels_.end(), identity,
                                        [](const Place& place, const KernelIdentity& wanted) { return place.identity < wanted; });
    return found != kernels_.end() && found->identity == identity && !is_wrong(*found) ? &*found : nullptr;
}

bool Bundle::is_wrong(const Place& place) const {
    if (!place.inspection) return false;
    std::call_once(place.inspection->done, [&] {
        const std::optional<CompiledKernel> kernel = kernel_at(place);
        place.inspection->is_wrong = kernel && spills_wrongly(*kernel);
        if (place.inspection->is_wrong)
            log_line(fmt::format("{}: a kernel of the bundle stores spilled registers wrongly and is not used; {}", name_, kMakeAgain));
    });
    return place.inspection->is_wrong;
}

std::optional<CompiledKernel> Bundle::kernel_at(const Place& place) const {
    CompiledKernel kernel{.image = {}, .registers = place.registers, .spill_bytes = place.spill_bytes, .log = {}};
    kernel.image.resize(place.image_bytes);
    uLongf size = place.image_bytes;
    if (uncompress(reinterpret_cast<Bytef*>(kernel.image.data()), &size, reinterpret_cast<const Bytef*>(bytes_.data() + place.offset),
                   place.stored_bytes) != Z_OK ||
        size != place.image_bytes)
        return std::nullopt;
    return kernel;
}

std::optional<CompiledKernel> Bundle::find(const KernelIdentity& identity) const {
    const Place* const place = place_of(identity);
    if (!place) return std::nullopt;
    std::optional<CompiledKernel> kernel = kernel_at(*place);
    if (!kernel) log_line(fmt::format("{}: a kernel of the bundle is damaged and not used", name_));
    return kernel;
}

}  // namespace tmm
