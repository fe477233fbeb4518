#include "tools/tmm_bench/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <iostream>

#include "base/text/printable.h"
#include "base/text/text_width.h"
#include "bench/peers/peers.h"
#include "generator/compile/compiler.h"

namespace tmm::bench {
namespace {

std::string now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::unique_ptr<Peer> open_peer(const std::string& name, const std::shared_ptr<Device>& device, const PeerOptions& peer_options) {
    try {
        return make_peer(name, device, peer_options);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(ExitStatus::no_device, fmt::format("{} does not start: {}", name, error.what()), "--vs", "leave it out of --vs");
    }
}

std::vector<std::string> usual_peers(const Arguments& arguments, const DeviceInfo& device) {
    if (arguments.accuracy) return {};
    // No plain loop knows what an expression says.
    if (!arguments.expression.empty() && device.emulated) return {"naive"};
    return default_peers(device);
}

}  // namespace

Session::Session(const Arguments& arguments, int gpu) : ordinal(gpu), device(open_device(gpu)), context(gpu) {
    const bool emulated = device->info().emulated;
    const std::vector<std::string> usual = usual_peers(arguments, device->info());
    info = {.label = arguments.label,
            .date = now(),
            .device = device->info_with_power_limit(),
            .sharing = device->sharing(),
            .kernel_driver = kernel_driver_version(),
            .nvrtc_version = emulated ? 0 : nvrtc_version(),
            .pairs = arguments.accuracy ? 0 : arguments.pairs,
            .max_workspace = arguments.max_workspace,
            .prepared = arguments.prepared,
            .peers = arguments.peers.empty() ? usual : arguments.peers,
            .peer_versions = {},
            .ceilings = {}};
    if (const std::string warning = warning_of(info.sharing); !warning.empty()) say(fmt::format("{}: {}", info.device.name, warning));
    const PeerOptions peer_options{.cublas_directory = arguments.cublas_directory, .workspace_bytes = arguments.workspace_bytes};
    for (std::string& name : info.peers) {
        peers.push_back(open_peer(name, device, peer_options));
        // A config may be typed in another order than it is spelled.
        name = peers.back()->name();
        info.peer_versions.push_back(peers.back()->version());
        say(fmt::format("{}: {}", name, info.peer_versions.back()));
    }
    tuned.emplace(ordinal, device, arguments.database, info.max_workspace, arguments.prepared);
}

void say(const std::string& message, const std::string& speaker) {
    std::cerr << hanging(printable(fmt::format("{}: {}", speaker, message)), screen_of(stderr).columns, 4) << '\n';
}

void show_progress(StatusLine& status, std::size_t done, const std::vector<Shape>& shapes) {
    status.show(fmt::format("{}/{} {}", done + 1, shapes.size(), to_text(shapes[done].problem)));
}

}  // namespace tmm::bench
