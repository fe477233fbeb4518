// Names of peers; see peers.h.
#include "bench/peers/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/text/nearest_name.h"
#include "base/text/printable.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

// A family's name followed by something else begins a config; "naive" alone is the peer of that name.
bool is_config(std::string_view name) {
    const std::size_t end = name.find_first_of(" =");
    if (end == std::string_view::npos || end == 0) return false;
    const std::string_view word = name.substr(0, end);
    return word == "family" || std::find(std::begin(kFamilyNames), std::end(kFamilyNames), word) != std::end(kFamilyNames);
}

}  // namespace

std::unique_ptr<Peer> make_peer(const std::string& name, std::shared_ptr<Device> device, const PeerOptions& options) {
    if (name == "naive") return make_naive_peer(std::move(device));
    if (name == "cpu") return make_cpu_peer(std::move(device));
    if (is_config(name)) return make_config_peer(std::move(device), parse_config(name));
    if (name != "cublas" && name != "cublaslt") {
        const auto near = nearest_name(name, {"cublas", "cublaslt", "cpu", "naive"});
        throw Error(ExitStatus::usage, fmt::format("there is no peer {}", in_quotes(name)), "--vs",
                    fmt::format("{}choose from cublas, cublaslt, cpu, naive, or name a config such as 'tiled 16x16x16'",
                                near ? fmt::format("did you mean {}? ", *near) : ""));
    }
    if (device->info().emulated)
        throw Error(ExitStatus::no_device, fmt::format("{} needs a GPU, and this is the emulated device", name), "--vs",
                    "use --vs cpu,naive");
    return name == "cublas" ? make_cublas_peer(std::move(device), options) : make_cublaslt_peer(std::move(device), options);
}

std::vector<std::string> default_peers(const DeviceInfo& device) {
    if (device.emulated) return {"cpu", "naive"};
    return {"cublas", "cublaslt"};
}

}  // namespace tmm::bench
