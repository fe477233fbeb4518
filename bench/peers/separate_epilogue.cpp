// Compiles and launches the elementwise kernel; see separate_epilogue.h.
#include "bench/peers/separate_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/text/environment.h"
#include "bench/operands/operands.h"
#include "bench/peers/plain_product.h"
#include "generator/text/text.h"
#include "tmm/checks/elementwise/args.h"

namespace tmm::bench {
namespace {

constexpr int kFewRows = 1;
constexpr int kManyRows = 4;

std::string entry_name(int rows) {
    return fmt::format("tmm_elementwise_{}", rows);
}

i64 ceil_div(i64 x, i64 y) {
    return (x + y - 1) / y;
}

// The kernel with the arguments and the launch that a problem's C takes; the pointers are each call's own.
struct ElementwiseLaunch {
    std::shared_ptr<const LoadedKernel> kernel;
    ElementwiseArgs args;
    LaunchShape shape;
    // Holds what a gate takes, for all contestants of a problem, which run one after another; it is empty where C holds the product.
    DeviceBuffer product;
};

ElementwiseLaunch launch_for(const GemmProblem& p, int rows) {
    const GemmProblem product = plain_product(p);
    const i64 vectors = ceil_div(columns_of_c(p), elementwise::vector_width(signature_of(p)));
    int across = 1;
    while (across < elementwise::kThreads && across < vectors) across *= 2;
    const i64 tiles_across = ceil_div(vectors, across);
    const i64 tiles_down = ceil_div(rows_of_c(p), static_cast<i64>(elementwise::kThreads) / across * rows);
    const i64 blocks = tiles_across * tiles_down * p.batch;
    if (blocks > std::numeric_limits<int>::max()) throw std::runtime_error("C has too many elements for one elementwise kernel");
    return {.kernel = nullptr,
            .args = {.ld_product = product.ldc,
                     .stride_product = product.stride_c,
                     .m = rows_of_c(p),
                     .n = columns_of_c(p),
                     .ldc = p.ldc,
                     .stride_c = p.stride_c,
                     .threads_across = across,
                     .tiles_across = static_cast<int>(tiles_across),
                     .tiles_down = static_cast<int>(tiles_down),
                     .epilogue = {.ldr = p.ldr, .stride_r = p.stride_r}},
            .shape = {.grid = blocks, .threads = elementwise::kThreads},
            .product = {}};
}

DeviceBuffer memory_for_gate(const std::shared_ptr<Device>& device, const GemmProblem& p) {
    const GemmProblem product = plain_product(p);
    const i64 elements = spanned_elements(product.m, product.n, product.ldc, p.batch, product.stride_c);
    try {
        return {device, static_cast<std::size_t>(elements * size_of(p.type_c))};
    } catch (const std::bad_alloc&) {
        throw std::runtime_error("the device's memory is too small for the product that the gate takes");
    }
}

class BehindProduct final : public Contestant {
public:
    BehindProduct(std::unique_ptr<Contestant> product, std::shared_ptr<Device> device, std::shared_ptr<const ElementwiseLaunch> launch)
        : product_(std::move(product)), device_(std::move(device)), launch_(std::move(launch)) {}

    void enqueue(const GemmCall& call, Stream stream) override {
        GemmCall multiplication = call;
        if (launch_->product.data()) multiplication.c = launch_->product.data();
        product_->enqueue(multiplication, stream);
        ElementwiseArgs args = launch_->args;
        args.product = multiplication.c;
        args.c = call.c;
        args.epilogue.bias = call.bias;
        args.epilogue.residual = call.residual;
        std::copy(std::begin(call.parameters), std::end(call.parameters), std::begin(args.epilogue.parameters));
        device_->launch(*launch_->kernel, launch_->shape, &args, sizeof args, stream);
    }
    std::int64_t workspace_bytes() const override {
        return product_->workspace_bytes() + static_cast<std::int64_t>(launch_->product.bytes());
    }
    std::string detail() const override {
        const std::string product = product_->detail();
        return product + (product.empty() ? "" : " + ") + "elementwise kernel";
    }
    void forget_streams() override { product_->forget_streams(); }

private:
    std::unique_ptr<Contestant> product_;
    std::shared_ptr<Device> device_;
    std::shared_ptr<const ElementwiseLaunch> launch_;
};

}  // namespace

KernelSource make_elementwise_source(const GemmProblem& problem, const Expression& expression) {
    const KernelSignature s = signature_of(problem);
    KernelSource source{.name = "tmm_elementwise", .text = "#include \"tmm/checks/elementwise/kernel.cuh\"\n\n", .entries = {}};
    if (s.epilogue == Epilogue::custom) source.text += kExpressionInclude;
    source.text += fmt::format(
        "namespace {{\n"
        "struct Kernel {{\n"
        "    static constexpr tmm::KernelSignature signature{{.type_c = tmm::ElementType::{},\n"
        "                                                    .align_c = {},\n"
        "                                                    .align_residual = {},\n"
        "                                                    .bias = tmm::BiasAxis::{},\n"
        "                                                    .activation = tmm::Activation::{},\n"
        "                                                    .residual = {},\n"
        "                                                    .epilogue = tmm::Epilogue::{},\n"
        "                                                    .type_bias = tmm::ElementType::{}}};\n"
        "{}"
        "}};\n"
        "}}  // namespace\n",
        name_of(s.type_c), s.align_c, s.align_residual, name_of(s.bias), name_of(s.activation), s.residual, name_of(s.epilogue),
        name_of(s.type_bias), s.epilogue == Epilogue::custom ? definition_of(expression) : "");
    // Without a gate of columns the text does not depend on C's columns, and one kernel serves many shapes.
    const int aligned_columns = gates_columns(s.activation) ? elementwise::aligned_columns(columns_of_c(problem)) : 1;
    for (const int rows : {kFewRows, kManyRows}) {
        source.text += fmt::format(
            "\nextern \"C\" __global__ void __launch_bounds__({}) {}(const tmm::ElementwiseArgs args) {{\n"
            "    tmm::elementwise::kernel<Kernel, {}, {}>(args);\n"
            "}}\n",
            elementwise::kThreads, entry_name(rows), aligned_columns, rows);
        source.entries.push_back({entry_name(rows), "tmm::ElementwiseArgs"});
    }
    return source;
}

SeparateEpilogues::SeparateEpilogues(std::shared_ptr<Device> device) : device_(std::move(device)) {}
SeparateEpilogues::~SeparateEpilogues() = default;

std::vector<std::unique_ptr<Contestant>> SeparateEpilogues::behind(std::vector<std::unique_ptr<Contestant>> products,
                                                                   const GemmProblem& problem, const Expression& expression) {
    if (!loader_) loader_ = std::make_unique<KernelLoader>(device_, make_compiler(device_->info()), KernelCache(default_cache_directory()));
    ElementwiseLaunch launch = launch_for(problem, kManyRows);
    int rows = kManyRows;
    // A small C has too few rows to fill the device with several a thread.
    if (launch.shape.grid < 4 * device_->info().sm_count) {
        rows = kFewRows;
        launch = launch_for(problem, rows);
    }
    auto loaded = loader_->load(make_elementwise_source(problem, expression), entry_name(rows));
    if (const auto* failure = std::get_if<CompileFailure>(&loaded))
        throw Error(ExitStatus::no_compiler, fmt::format("the elementwise kernel does not compile: {}", failure->log));
    launch.kernel = std::get<KernelLoader::Loaded>(std::move(loaded)).kernel;
    if (is_gate(problem.activation)) launch.product = memory_for_gate(device_, problem);
    const auto shared = std::make_shared<const ElementwiseLaunch>(std::move(launch));
    for (std::unique_ptr<Contestant>& product : products) product = std::make_unique<BehindProduct>(std::move(product), device_, shared);
    return products;
}

}  // namespace tmm::bench
