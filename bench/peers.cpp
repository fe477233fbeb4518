// Names of peers; see peers.h.
#include "bench/peers.h"

#include <fmt/format.h>

#include "generator/error.h"

namespace tmm::bench {

std::unique_ptr<Peer> make_peer(const std::string& name, std::shared_ptr<Device> device, const PeerOptions& options) {
    if (name == "naive") return make_naive_peer(std::move(device));
    if (name == "cpu") return make_cpu_peer(std::move(device));
    if (name != "cublas" && name != "cublaslt")
        throw Error(ExitStatus::usage, fmt::format("no peer is named \"{}\"", name), "--vs", "choose from cublas, cublaslt, cpu, naive");
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
