// Every way in which cuBLAS and cuBLASLt serve a shape with an epilogue for a comparison, against the exact result.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/accuracy/accuracy.h"
#include "bench/operands/element_bits.h"
#include "bench/operands/operands.h"
#include "bench/peers/cublaslt_epilogue.h"
#include "bench/peers/peers.h"
#include "bench/timing/driver_context.h"
#include "generator/text/shapes_file.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

// Rows aligned to 16 bytes, to less and to an element, beta (which no gate takes), batches, residuals with rows of their own, and C of f32
// behind 16 bits.
const char* const kShapes[] = {
    "128 256 64",
    "100 200 72 dtype=bf16",
    "96 136 64 dtype=f16 ops=nt beta=0.5",
    "64 132 80 dtype=bf16 ops=nt batch=3",
    "65 130 68 ops=tn beta=1",
    "33 77 55 dtype=bf16 align=2",
    "512 520 256 dtype=bf16 ctype=f32 ops=nt",
};
const char* const kTestedEpilogues[] = {
    "bias",
    "relu",
    "bias+relu",
    "gelu_tanh",
    "bias+gelu_tanh",
    "bias_rows+relu",
    "bias+silu",
    "bias+residual",
    "residual",
    "bias+gelu",
    "bias+tanh+residual",
    "bias_rows+sigmoid+residual",
    "swiglu",
    "bias+swiglu",
    "swiglu+residual",
    "bias_rows+swiglu+residual",
    "swiglu_rows",
    "bias_rows+swiglu_rows+residual",
};

// "" where all that the peer offers is right. own: how many offers are the library's own epilogue.
std::string wrong_offer(Peer& peer, const std::shared_ptr<Device>& device, Stream stream, const Shape& shape, const ValuePool& pool,
                        int& own) {
    Operands operands(device, shape, 0, pool);
    const Reference reference(operands, 0);
    int offer_number = 0;
    for (const std::unique_ptr<Contestant>& offer : peer.offers(shape.problem)) {
        const std::string detail = offer->detail();
        own += detail.ends_with("own epilogue") ? 1 : 0;
        const auto judge = [&](const char* how) -> std::string {
            // The library rounds the product to the type of C before the epilogue.
            const double most = 4 * unit_roundoff(shape.problem.type_c) + 1e-5;
            const Accuracy accuracy = reference.judge(operands.result(0));
            if (accuracy.error < most) return "";
            return fmt::format("offer {} ({}), {}: an error of {}, {}", offer_number, detail, how, accuracy.error, accuracy.where);
        };
        operands.fill_c(0);
        try {
            offer->enqueue(operands.call(0), stream);
        } catch (const DeviceFault&) {
            throw;
        } catch (const std::runtime_error&) {
            // A heuristic may refuse a call; tmm-bench goes on without it, too.
            continue;
        }
        device->synchronize(stream);
        if (const std::string wrong = judge("called"); !wrong.empty()) return wrong;
        operands.fill_c(0);
        offer->record(*device, operands.calls(1))->run_timed();
        if (const std::string wrong = judge("replayed"); !wrong.empty()) return wrong;
        ++offer_number;
    }
    return offer_number > 0 ? "" : "nothing is offered";
}

}  // namespace

TEST_CASE("cuBLAS and cuBLASLt serve epilogues rightly, by their own and by a kernel behind the product") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const std::shared_ptr<Device> device = open_device(0);
    const DriverContext context(0);
    const ValuePool pool;
    PeerOptions options;
    options.heuristics = 8;
    for (const char* name : {"cublas", "cublaslt"}) {
        std::unique_ptr<Peer> peer;
        try {
            peer = make_peer(name, device, options);
        } catch (const Error& error) {
            MESSAGE("skipped: " << error.what());
            return;
        }
        int own_offers = 0;
        for (const char* text : kShapes)
            for (const char* epilogue : kTestedEpilogues) {
                const std::string line = fmt::format("{} epilogue={}", text, epilogue);
                const auto has = [&line](const char* words) { return line.find(words) != std::string::npos; };
                if (has("swiglu") && has("beta=")) continue;
                CAPTURE(name);
                CAPTURE(line);
                int own = 0;
                CHECK(wrong_offer(*peer, device, context.stream(), parse_shape(line), pool, own) == "");
                CHECK((own == 0 || own_epilogue(parse_shape(line).problem)));
                own_offers += own;
            }
        // What cuBLASLt has of its own, it offers.
        CHECK((own_offers > 0) == (std::string(name) == "cublaslt"));
    }
}
