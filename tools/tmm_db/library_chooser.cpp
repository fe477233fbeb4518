#include "tools/tmm_db/library_chooser.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/store/records.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_info.h"
#include "runtime/select/read_winners.h"
#include "runtime/select/selection.h"

namespace tmm {
namespace {

// Nothing where tmm does not know the device's generation.
std::optional<Winners> winners_on(const DeviceModel& model, const std::optional<std::filesystem::path>& database) {
    std::optional<DeviceInfo> device = remembered_device(device_of(model));
    if (!device) return std::nullopt;
    // Another machine's emulated device may have other cores.
    device->sm_count = model.sm_count;
    if (database) return read_winners(*database, *device, {});
    return Winners(shipped_winners(model.name), *device, {},
                   [model] { return shipped_winners_beside(model.name, model.compute_capability); });
}

std::optional<LibraryChoice> choice_of(const Winners& winners, const GemmProblem& problem, ChoiceFrom from) {
    if (const WinnerRow* const winner = winners.exact_winner(problem))
        return LibraryChoice{
            .config = winner->config, .winner = *winner, .match = std::string(name_of(Match::exact)), .measured_us = winner->median_us};
    if (from == ChoiceFrom::winners_of_the_problem) return std::nullopt;
    Selection selection = winners.select(problem);
    return LibraryChoice{.config = selection.config,
                         .match = std::string(name_of(selection.match)),
                         .why = std::move(selection.why),
                         .measured_us = selection.measured_us};
}

}  // namespace

LibraryChooser make_library_chooser(const std::optional<std::filesystem::path>& database) {
    struct Known {
        DeviceModel model;
        std::optional<Winners> winners;
    };
    const auto known = std::make_shared<std::vector<Known>>();
    return [known, database](const DeviceModel& model, const GemmProblem& problem, ChoiceFrom from) -> std::optional<LibraryChoice> {
        auto found = std::ranges::find_if(*known, [&](const Known& one) { return one.model == model; });
        if (found == known->end()) {
            known->push_back({model, winners_on(model, database)});
            found = known->end() - 1;
        }
        if (!found->winners) return std::nullopt;
        return choice_of(*found->winners, problem, from);
    };
}

}  // namespace tmm
