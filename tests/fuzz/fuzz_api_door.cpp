// Fuzzes the C interface: bytes say which function is called with which problem, scalars and pointers. The calls that may be refused are
// worked out here once more, from what tmm.h says; the result of a call that it allows, on small whole numbers, is compared with a plain
// loop bit for bit.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/fuzz/fuzz_doors.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"

namespace tmm::testing {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
// Most elements of one matrix, and most products in all: larger calls are planned, not run.
constexpr Wide kLargestRun = 1 << 16;
constexpr Wide kMostProducts = 1 << 18;

// Gives zeros where the input has ended.
class Bytes {
public:
    explicit Bytes(std::string_view rest) : rest_(rest) {}
    unsigned next() {
        if (rest_.empty()) return 0;
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        return byte;
    }
    // Is it one of so many, as few inputs are?
    bool one_in(unsigned count) { return next() % count == count - 1; }
    template <typename T, std::size_t count>
    T of(const T (&values)[count]) {
        return values[next() % count];
    }
    std::int64_t any_number() {
        constexpr std::int64_t kNumbers[] = {-1,
                                             0,
                                             1,
                                             65,
                                             1 << 20,
                                             std::int64_t{1} << 31,
                                             std::int64_t{1} << 40,
                                             (std::int64_t{1} << 61) - 1,
                                             std::int64_t{1} << 61,
                                             std::int64_t{1} << 62,
                                             std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::max() - 3,
                                             std::numeric_limits<std::int64_t>::min()};
        return of(kNumbers);
    }
    std::int64_t size() { return one_in(12) ? any_number() : next() % 41; }

private:
    std::string_view rest_;
};

template <typename Enum>
Enum enumerator(int value) {
    return static_cast<Enum>(value);
}

// A matrix as it is stored: lines that lie ld apart, of so many elements next to each other.
struct Matrix {
    std::int64_t lines = 0, length = 0, ld = 0, stride = 0, batch = 1;
    int element = 4;

    Wide extent() const {
        if (lines == 0 || length == 0 || batch == 0) return 0;
        // Products beyond this are too large in any case, and sums of them would not fit.
        constexpr Wide far = Wide{1} << 100;
        const auto bounded = [&](Wide product) { return std::clamp(product, -far, far); };
        return (bounded((Wide{lines} - 1) * ld) + bounded((Wide{batch} - 1) * stride) + length) * element;
    }
    bool is_number() const { return extent() <= kMost && Wide{std::max({lines, length, ld, stride})} * element <= kMost; }
    std::size_t at(std::int64_t member, std::int64_t line, std::int64_t i) const {
        return static_cast<std::size_t>(member * stride + line * ld + i);
    }
    std::size_t elements() const { return static_cast<std::size_t>(extent() / element); }
};

int element_bytes(tmmType_t type) {
    return type == TMM_F16 || type == TMM_BF16 ? 2 : type == TMM_F64 ? 8 : 4;
}

struct Call {
    enum Function { gemm, sgemm, host_sgemm, planned };
    Function function = gemm;
    tmmGemmProblem_t problem;
    float alpha = 1, beta = 0;
    bool null_problem = false, null_args = false, null_alpha = false, null_beta = false, null_a = false, null_b = false, null_c = false;
    bool bad_args_size = false, own_workspace = false, prepares = false;
    // An operand of the epilogue is given that the problem has no use for, or is not that it has one for.
    bool wrong_bias = false, wrong_residual = false;
    // Bytes from an address that is a multiple of 16.
    unsigned offset_a = 0, offset_b = 0, offset_c = 0;
    // Chosen among winners of every family that the device takes, and not among naive ones, which compile in no time.
    bool all_families = false;

    bool row() const { return problem.layout == TMM_ROW_MAJOR; }
    std::int64_t batch() const { return problem.batch; }
    Matrix a() const {
        return matrix(row() == (problem.op_a == TMM_NO_TRANS), problem.m, problem.k, problem.lda, problem.stride_a, problem.type_a);
    }
    Matrix b() const {
        return matrix(row() == (problem.op_b == TMM_NO_TRANS), problem.k, problem.n, problem.ldb, problem.stride_b, problem.type_b);
    }
    Matrix c() const { return matrix(row(), problem.m, problem.n, problem.ldc, problem.stride_c, problem.type_c); }
    bool is_empty() const { return problem.m == 0 || problem.n == 0 || problem.batch == 0; }
    // Programs that were compiled before there were epilogues have none.
    bool has_bias() const { return problem.struct_size == sizeof problem && problem.has_bias; }
    bool has_residual() const { return problem.struct_size == sizeof problem && problem.has_residual; }
    Matrix bias() const {
        const std::int64_t elements = problem.bias_axis == TMM_BIAS_ROWS ? problem.m : problem.n;
        return {.lines = 1, .length = elements, .ld = elements, .element = element_bytes(problem.type_bias)};
    }
    Matrix residual() const { return matrix(row(), problem.m, problem.n, problem.ldr, problem.stride_r, problem.type_c); }

private:
    Matrix matrix(bool plain, std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t stride, tmmType_t type) const {
        return {.lines = plain ? rows : columns,
                .length = plain ? columns : rows,
                .ld = ld,
                .stride = problem.batch > 1 ? stride : 0,
                .batch = problem.batch,
                .element = element_bytes(type)};
    }
};

// Bytes that follow from the input, for what is drawn beyond its end, where there are zeros.
std::string bytes_beyond(std::string_view input) {
    std::uint64_t state = 0xcbf29ce484222325U;
    for (const char c : input) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    std::string bytes;
    for (int i = 0; i < 32; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        bytes += static_cast<char>(state >> 56);
    }
    return bytes;
}

// Few calls have an epilogue, since nearly every one of these compiles a kernel. relu alone of the activations leaves whole numbers whole.
void add_epilogue(Bytes& bytes, tmmGemmProblem_t& p) {
    if (!bytes.one_in(64)) return;
    p.has_bias = bytes.one_in(2) ? 1 : 0;
    p.has_residual = bytes.one_in(3) ? 1 : 0;
    p.activation = bytes.one_in(3) ? TMM_ACTIVATION_RELU : TMM_ACTIVATION_NONE;
    p.bias_axis = bytes.of({TMM_BIAS_COLUMNS, TMM_BIAS_ROWS});
    p.type_bias = bytes.of({TMM_F32, TMM_F32, TMM_F16, TMM_BF16});
    if (!bytes.one_in(12)) return;
    switch (bytes.next() % 4) {
        case 0: p.activation = enumerator<tmmActivation_t>(bytes.of({-1, 9, 1000})); break;
        case 1: p.bias_axis = enumerator<tmmBiasAxis_t>(bytes.of({-1, 2})); break;
        case 2: p.type_bias = enumerator<tmmType_t>(bytes.of({3, 4, -1})); break;
        default: p.epilogue = enumerator<tmmEpilogue_t>(bytes.of({1, 2, 3})); break;
    }
}

// Mostly what a caller could mean, with faults strewn in.
Call call_of(std::string_view input) {
    Bytes bytes(input);
    Call call;
    tmmGemmProblem_t& p = call.problem;
    tmmGemmProblemInit(&p);
    call.function = bytes.of({Call::gemm, Call::gemm, Call::sgemm, Call::host_sgemm, Call::planned, Call::planned});
    call.all_families = bytes.one_in(256);
    const bool only_floats = call.function == Call::sgemm || call.function == Call::host_sgemm;
    p.layout = bytes.one_in(60) ? enumerator<tmmLayout_t>(bytes.of({0, 100, 103, -1})) : bytes.of({TMM_ROW_MAJOR, TMM_COL_MAJOR});
    for (tmmOperation_t* op : {&p.op_a, &p.op_b})
        *op = bytes.one_in(60) ? enumerator<tmmOperation_t>(bytes.of({0, 110, 114, -111}))
                               : bytes.of({TMM_NO_TRANS, TMM_TRANS, TMM_CONJ_TRANS});
    p.m = bytes.size();
    p.n = bytes.size();
    p.k = bytes.size();
    if (!only_floats) {
        p.batch = bytes.one_in(30) ? bytes.any_number() : bytes.of({1, 1, 1, 2, 3, 0});
        const tmmType_t type = bytes.of({TMM_F32, TMM_F32, TMM_F16, TMM_BF16});
        p.type_a = p.type_b = type;
        p.type_c = bytes.one_in(4) ? TMM_F32 : type;
        for (tmmType_t* of : {&p.type_a, &p.type_b, &p.type_c})
            if (bytes.one_in(60)) *of = enumerator<tmmType_t>(bytes.of({0, 1, 2, 3, 4, -1}));
        if (bytes.one_in(10)) p.compute = enumerator<tmmCompute_t>(bytes.of({0, 1, 2, 3, 4, -1}));
        if (bytes.one_in(60)) p.epilogue = enumerator<tmmEpilogue_t>(bytes.of({1, 2, 3, 4, -1}));
        if (bytes.one_in(4)) p.alignment = bytes.of({1, 2, 4, 8, 32, 1 << 30, 0, -1, 12, -16});
        if (bytes.one_in(4)) p.max_workspace = bytes.of<std::size_t>({0, 1, 4096, SIZE_MAX / 2});
        if (bytes.one_in(60))
            p.struct_size = bytes.of<std::size_t>({0, 1, offsetof(tmmGemmProblem_t, max_workspace), sizeof p + 8, SIZE_MAX});
    }
    const Matrix a = call.a(), b = call.b(), c = call.c();
    const auto at_least = [](const Matrix& x, std::int64_t more) { return std::min<std::int64_t>(x.length, kMost - more) + more; };
    const auto ld = [&](const Matrix& x) { return bytes.one_in(20) ? bytes.any_number() : at_least(x, bytes.of({0, 0, 0, 1, 3, 4, 7})); };
    p.lda = ld(a);
    p.ldb = ld(b);
    p.ldc = ld(c);
    const auto stride = [&](const Matrix& x, std::int64_t tight) {
        if (bytes.one_in(16)) return bytes.any_number();
        return bytes.one_in(8) ? at_least(x, bytes.next() % 8)
                               : static_cast<std::int64_t>(std::clamp<Wide>(Wide{x.lines} * tight, 0, kMost));
    };
    p.stride_a = bytes.one_in(6) ? 0 : stride(a, p.lda);
    p.stride_b = bytes.one_in(6) ? 0 : stride(b, p.ldb);
    p.stride_c = stride(c, p.ldc);
    call.alpha = bytes.of({1.0f, 1.0f, 2.0f, -1.0f, 0.0f});
    call.beta = bytes.of({0.0f, 0.0f, 1.0f, -1.0f, 2.0f});
    p.reads_c = bytes.one_in(30) ? 0 : call.beta != 0 || bytes.one_in(8) ? 1 : 0;
    if (only_floats) p.reads_c = call.beta != 0 ? 1 : 0;
    const unsigned faults = bytes.one_in(8) ? bytes.next() : 0;
    call.null_a = faults % 16 == 1;
    call.null_b = faults % 16 == 2;
    call.null_c = faults % 16 == 3;
    call.null_alpha = faults % 16 == 4;
    call.null_beta = faults % 16 == 5;
    call.null_args = faults % 16 == 6 && !only_floats;
    call.null_problem = faults % 16 == 7 && !only_floats;
    call.bad_args_size = faults % 16 == 8 && !only_floats;
    call.wrong_bias = faults % 16 == 9 && !only_floats;
    call.wrong_residual = faults % 16 == 10 && !only_floats;
    // Whole elements are allowed, other distances are not.
    const auto offset = [&](const Matrix& x) {
        return bytes.one_in(5) ? bytes.one_in(8) ? 1U : static_cast<unsigned>(x.element) * (1 + bytes.next() % 3) : 0U;
    };
    call.offset_a = offset(a);
    call.offset_b = offset(b);
    call.offset_c = offset(c);
    call.own_workspace = bytes.one_in(3);
    call.prepares = bytes.one_in(4);
    if (only_floats && call.null_beta) p.reads_c = 1;
    const std::string beyond = bytes_beyond(input);
    bytes = Bytes(beyond);
    if (!only_floats) add_epilogue(bytes, p);
    if (!only_floats && p.has_residual) {
        const Matrix residual = call.residual();
        p.ldr = ld(residual);
        p.stride_r = bytes.one_in(6) ? 0 : stride(residual, p.ldr);
    }
    return call;
}

// Do elements of two members of C stand in one place? Tried out; unknown of what is too large for that.
enum class Verdict { no, yes, unknown };
Verdict overlaps(const Matrix& c) {
    if (c.batch <= 1 || c.extent() == 0) return Verdict::no;
    if (c.stride == 0) return Verdict::yes;
    if (Wide{c.stride} >= (Wide{c.lines} - 1) * c.ld + c.length) return Verdict::no;
    if (c.extent() > kLargestRun || Wide{c.lines} * c.length * c.batch > kLargestRun) return Verdict::unknown;
    std::vector<char> taken(c.elements());
    for (std::int64_t member = 0; member < c.batch; ++member)
        for (std::int64_t line = 0; line < c.lines; ++line)
            for (std::int64_t i = 0; i < c.length; ++i)
                if (taken[c.at(member, line, i)]++) return Verdict::yes;
    return Verdict::no;
}

bool is_in(int value, int least, int most) {
    return value >= least && value <= most;
}

bool is_legal_epilogue(const Call& call) {
    const tmmGemmProblem_t& p = call.problem;
    if (p.struct_size != sizeof p) return p.epilogue == TMM_EPILOGUE_NONE;
    if (!is_in(p.activation, TMM_ACTIVATION_NONE, TMM_ACTIVATION_TANH) || !is_in(p.bias_axis, 0, 1) || !is_in(p.type_bias, 0, 3))
        return false;
    if (p.has_bias && p.type_bias == TMM_F64) return false;
    const tmmEpilogue_t made = p.activation != TMM_ACTIVATION_NONE ? TMM_EPILOGUE_ACTIVATION
                               : p.has_bias || p.has_residual      ? TMM_EPILOGUE_BIAS
                                                                   : TMM_EPILOGUE_NONE;
    if (p.epilogue != TMM_EPILOGUE_NONE && p.epilogue != made) return false;
    const Matrix residual = call.residual();
    return !p.has_residual ||
           (residual.ld >= std::max<std::int64_t>(1, residual.length) && (p.batch <= 1 || residual.stride >= 0) && residual.is_number());
}

// Whether the problem is allowed by the words of tmm.h.
Verdict is_legal_problem(const Call& call) {
    const tmmGemmProblem_t& p = call.problem;
    if (call.null_problem || (p.struct_size != sizeof p && p.struct_size != offsetof(tmmGemmProblem_t, max_workspace))) return Verdict::no;
    if (!is_in(p.layout, 101, 102) || !is_in(p.op_a, 111, 113) || !is_in(p.op_b, 111, 113)) return Verdict::no;
    if (!is_in(p.type_a, 0, 2) || p.type_b != p.type_a || (p.type_c != p.type_a && p.type_c != TMM_F32)) return Verdict::no;
    if (!is_in(p.compute, 0, p.type_a == TMM_F32 ? 2 : 0) || !is_legal_epilogue(call)) return Verdict::no;
    if (std::min({p.m, p.n, p.k, p.batch}) < 0 || p.alignment < 1 || !std::has_single_bit(static_cast<unsigned>(p.alignment)))
        return Verdict::no;
    const Matrix matrices[] = {call.a(), call.b(), call.c()};
    for (const Matrix& x : matrices)
        if (x.ld < std::max<std::int64_t>(1, x.length) || (p.batch > 1 && x.stride < 0) || !x.is_number()) return Verdict::no;
    const Verdict overlap = overlaps(call.c());
    return overlap == Verdict::yes ? Verdict::no : overlap == Verdict::no ? Verdict::yes : Verdict::unknown;
}

bool are_legal_arguments(const Call& call) {
    if (call.null_args || call.bad_args_size) return false;
    if (call.is_empty()) return true;
    if (call.null_alpha || (call.null_beta && call.problem.reads_c)) return false;
    if (!call.problem.reads_c && !call.null_beta && call.beta != 0) return false;
    const bool reads = call.alpha != 0 && call.problem.k > 0;
    const auto misaligned = [](unsigned offset, const Matrix& x) { return offset % static_cast<unsigned>(x.element) != 0; };
    if (reads && (call.null_a || call.null_b || misaligned(call.offset_a, call.a()) || misaligned(call.offset_b, call.b()))) return false;
    return !call.null_c && !misaligned(call.offset_c, call.c()) && !call.wrong_bias && !call.wrong_residual;
}

// A whole number of at most 11 bits as binary16, for which not all compilers have a type.
std::uint16_t half_bits(float value) {
    if (std::isnan(value)) return 0x7fff;
    int exponent = 0;
    const float fraction = std::frexp(std::abs(value), &exponent);
    const int sign = std::signbit(value) ? 0x8000 : 0;
    if (fraction == 0) return static_cast<std::uint16_t>(sign);
    return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | (static_cast<int>(fraction * 2048) - 1024));
}

std::uint16_t bits_of(tmmType_t type, float value) {
    if (type == TMM_F16) return half_bits(value);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The bytes of a matrix between guards, its elements in place; what lies between them is NaN in any type.
class Memory {
public:
    static constexpr std::size_t kGuard = 64;

    Memory(const Matrix& layout, tmmType_t type, unsigned offset, unsigned seed)
        : layout_(layout),
          type_(type),
          offset_(offset),
          storage_(aligned(static_cast<std::size_t>(layout.extent()) + offset + 2 * kGuard)) {
        std::memset(storage_.get(), 0xff, size());
        values_.assign(layout.elements(), std::numeric_limits<float>::quiet_NaN());
        if (layout.extent() == 0) return;
        for (std::int64_t member = 0; member < layout.batch; ++member)
            for (std::int64_t line = 0; line < layout.lines; ++line)
                for (std::int64_t i = 0; i < layout.length; ++i) {
                    seed = seed * 1103515245 + 12345;
                    set(layout.at(member, line, i), static_cast<float>(static_cast<int>(seed >> 16) % 5 - 2));
                }
    }
    std::byte* data() const { return storage_.get() + kGuard + offset_; }
    std::size_t size() const { return static_cast<std::size_t>(layout_.extent()) + offset_ + 2 * kGuard; }
    const Matrix& layout() const { return layout_; }
    float value(std::size_t at) const { return values_[at]; }
    void set(std::size_t at, float value) {
        values_[at] = value;
        if (layout_.element == 4) {
            std::memcpy(data() + at * 4, &value, 4);
        } else {
            const std::uint16_t bits = bits_of(type_, value);
            std::memcpy(data() + at * 2, &bits, 2);
        }
    }
    std::vector<std::byte> bytes() const { return {storage_.get(), storage_.get() + size()}; }
    // Zeros of either sign are one.
    void clear_signs_of_zeros() {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            std::uint32_t bits = 0;
            std::byte* const element = data() + i * static_cast<std::size_t>(layout_.element);
            std::memcpy(&bits, element, static_cast<std::size_t>(layout_.element));
            const bool is_zero = (bits & (layout_.element == 4 ? 0x7fffffffU : 0x7fffU)) == 0;
            if (is_zero) std::memset(element, 0, static_cast<std::size_t>(layout_.element));
        }
    }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    static std::unique_ptr<std::byte, Free> aligned(std::size_t bytes) {
        void* memory = nullptr;
        if (posix_memalign(&memory, kGuard, bytes) != 0) throw std::bad_alloc();
        return std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory));
    }

    Matrix layout_;
    tmmType_t type_;
    unsigned offset_;
    std::unique_ptr<std::byte, Free> storage_;
    std::vector<float> values_;
};

void multiply(const Call& call, const Memory& a, const Memory& b, const Memory& bias, const Memory& residual, Memory& c) {
    const tmmGemmProblem_t& p = call.problem;
    const bool plain_a = call.row() == (p.op_a == TMM_NO_TRANS);
    const bool plain_b = call.row() == (p.op_b == TMM_NO_TRANS);
    for (std::int64_t member = 0; member < p.batch; ++member)
        for (std::int64_t i = 0; i < p.m; ++i)
            for (std::int64_t j = 0; j < p.n; ++j) {
                float sum = 0;
                if (call.alpha != 0)
                    for (std::int64_t l = 0; l < p.k; ++l)
                        sum += a.value(plain_a ? a.layout().at(member, i, l) : a.layout().at(member, l, i)) *
                               b.value(plain_b ? b.layout().at(member, l, j) : b.layout().at(member, j, l));
                const std::size_t at = call.row() ? c.layout().at(member, i, j) : c.layout().at(member, j, i);
                const bool adds = p.reads_c && !call.null_beta && call.beta != 0;
                float x = call.alpha * sum + (adds ? call.beta * c.value(at) : 0.0f);
                if (call.has_bias()) x += bias.value(static_cast<std::size_t>(p.bias_axis == TMM_BIAS_ROWS ? i : j));
                if (p.struct_size == sizeof p && p.activation == TMM_ACTIVATION_RELU) x = std::max(x, 0.0f);
                if (call.has_residual())
                    x += residual.value(call.row() ? residual.layout().at(member, i, j) : residual.layout().at(member, j, i));
                c.set(at, x);
            }
}

// Two handles of the emulated device: one with winners of one simple family near to all small problems, and one with none, so that any
// family is guessed. They live until the process ends.
struct Handles {
    TemporaryDirectory directory;
    tmmHandle_t naive = nullptr;
    tmmHandle_t any = nullptr;

    Handles() {
        tmmSetLogCallback([](const char*, void*) {}, nullptr);
        setenv("TMM_CACHE_DIR", TMM_BINARY_DIR "/test_cache", 0);
        const std::string file = (directory.path() / "naive.db").string();
        store_naive_winners(file);
        if (tmmCreate(&naive, TMM_DEVICE_HOST, file.c_str()) != TMM_STATUS_SUCCESS ||
            tmmCreate(&any, TMM_DEVICE_HOST, (directory.path() / "none.db").c_str()) != TMM_STATUS_SUCCESS)
            throw std::runtime_error(tmmLastError(nullptr));
    }
    ~Handles() {
        tmmDestroy(naive);
        tmmDestroy(any);
    }
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;

private:
    static void store_naive_winners(const std::string& file) {
        TuningDatabase database(file, TuningDatabase::Mode::read_write_create);
        database.set_environment(Environment{.device = host_device_info()});
        for (const char* types : {"", " dtype=f16", " dtype=bf16", " dtype=f16 ctype=f32", " dtype=bf16 ctype=f32"})
            for (const char* ops : {"nn", "nt", "tn", "tt"})
                for (const int m : {1, 6, 30})
                    for (const int n : {1, 6, 30})
                        for (const int k : {1, 6, 30})
                            database.decide(parse_shape(fmt::format("{} {} {}{} ops={}", m, n, k, types, ops)).problem, {},
                                            {.config = parse_config("naive 8x8"), .median_us = 1, .candidates = 1});
    }
};

Handles& handles() {
    static auto* const made = new Handles;
    return *made;
}

struct Operands {
    Memory a, b, c, bias, residual;
};

struct Plan {
    tmmPlan_t plan = nullptr;
    Plan() = default;
    ~Plan() { tmmPlanDestroy(plan); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
};

struct AlignedBlock {
    explicit AlignedBlock(std::size_t bytes) : memory(std::aligned_alloc(TMM_WORKSPACE_ALIGNMENT, rounded(bytes))) {}
    ~AlignedBlock() { std::free(memory); }
    AlignedBlock(const AlignedBlock&) = delete;
    AlignedBlock& operator=(const AlignedBlock&) = delete;
    static std::size_t rounded(std::size_t bytes) { return (bytes / TMM_WORKSPACE_ALIGNMENT + 1) * TMM_WORKSPACE_ALIGNMENT; }
    void* memory;
};

tmmStatus_t run_planned(const Call& call, tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmGemmArgs_t* args) {
    Plan plan;
    if (const tmmStatus_t status = tmmPlanCreate(handle, problem, &plan.plan); status != TMM_STATUS_SUCCESS) return status;
    char text[200];
    std::size_t workspace = 0, prepared = 0;
    for (const tmmStatus_t status : {tmmPlanDescribe(plan.plan, text, sizeof text), tmmPlanWorkspaceSize(plan.plan, &workspace),
                                     tmmPlanPreparedSize(plan.plan, TMM_OPERAND_A, &prepared)})
        if (status != TMM_STATUS_SUCCESS) return status;
    const AlignedBlock own(workspace), prepared_a(prepared);
    if (args && call.own_workspace) {
        args->workspace = own.memory;
        args->workspace_size = workspace;
    }
    if (args && call.prepares && args->a &&
        tmmPlanPrepare(plan.plan, nullptr, TMM_OPERAND_A, args->a, prepared_a.memory, prepared) == TMM_STATUS_SUCCESS && prepared > 0)
        args->prepared_a = prepared_a.memory;
    return tmmPlanRun(plan.plan, nullptr, args);
}

tmmStatus_t run(const Call& call, tmmHandle_t handle, const Operands& on) {
    const tmmGemmProblem_t& p = call.problem;
    const float* alpha = call.null_alpha ? nullptr : &call.alpha;
    const float* beta = call.null_beta ? nullptr : &call.beta;
    void* const a = call.null_a ? nullptr : on.a.data();
    void* const b = call.null_b ? nullptr : on.b.data();
    void* const c = call.null_c ? nullptr : on.c.data();
    if (call.function == Call::sgemm || call.function == Call::host_sgemm)
        return (call.function == Call::sgemm ? tmmSgemm : tmmHostSgemm)(handle, p.layout, p.op_a, p.op_b, p.m, p.n, p.k, alpha,
                                                                        static_cast<const float*>(a), p.lda, static_cast<const float*>(b),
                                                                        p.ldb, beta, static_cast<float*>(c), p.ldc);
    tmmGemmArgs_t args = {};
    args.struct_size = sizeof args + (call.bad_args_size ? 8 : 0);
    args.alpha = alpha;
    args.beta = beta;
    args.a = a;
    args.b = b;
    args.c = c;
    args.bias = call.has_bias() != call.wrong_bias ? on.bias.data() : nullptr;
    args.residual = call.has_residual() != call.wrong_residual ? on.residual.data() : nullptr;
    const tmmGemmProblem_t* problem = call.null_problem ? nullptr : &p;
    tmmGemmArgs_t* const given = call.null_args ? nullptr : &args;
    return call.function == Call::planned ? run_planned(call, handle, problem, given) : tmmGemm(handle, problem, given);
}

std::string described(const Call& call) {
    const tmmGemmProblem_t& p = call.problem;
    return fmt::format(
        "function {} {}x{}x{} batch {} layout {} ops {} {} types {} {} {} ld {} {} {} strides {} {} {} alignment {} reads_c {} "
        "alpha {} beta {} epilogue {} activation {} bias {} axis {} type {} residual {} ldr {} stride {}",
        static_cast<int>(call.function), p.m, p.n, p.k, p.batch, static_cast<int>(p.layout), static_cast<int>(p.op_a),
        static_cast<int>(p.op_b), static_cast<int>(p.type_a), static_cast<int>(p.type_b), static_cast<int>(p.type_c), p.lda, p.ldb, p.ldc,
        p.stride_a, p.stride_b, p.stride_c, p.alignment, p.reads_c, call.alpha, call.beta, static_cast<int>(p.epilogue),
        static_cast<int>(p.activation), p.has_bias, static_cast<int>(p.bias_axis), static_cast<int>(p.type_bias), p.has_residual, p.ldr,
        p.stride_r);
}

std::string complaint_about_refusal(tmmStatus_t status, tmmHandle_t handle) {
    if (status == TMM_STATUS_SUCCESS) return "taken, though it is no legal call";
    if (status == TMM_STATUS_INTERNAL) return fmt::format("an internal error: {}", tmmLastError(handle));
    return *tmmLastError(handle) ? "" : "refused without a word";
}

// A problem whose matrices are in no memory is asked about, and not run.
std::string complaint_about_plan(const Call& call, tmmHandle_t handle, Verdict legal) {
    Plan plan;
    const tmmStatus_t status = tmmPlanCreate(handle, call.null_problem ? nullptr : &call.problem, &plan.plan);
    if (legal == Verdict::no) return complaint_about_refusal(status, handle);
    const bool taken = status == TMM_STATUS_SUCCESS;
    if (!taken && legal == Verdict::yes) return fmt::format("{}: {}", tmmStatusString(status), tmmLastError(handle));
    return taken == (plan.plan != nullptr) ? "" : "the plan and the status say different things";
}

std::string complaint_about_result(const Call& call, tmmHandle_t handle, bool legal, unsigned seed) {
    const tmmGemmProblem_t& p = call.problem;
    // The numbers of a problem that is not legal say nothing: any memory will do.
    const Matrix some{.lines = 8, .length = 8, .ld = 8};
    const bool runs = legal || is_legal_problem(call) == Verdict::yes;
    Operands on{.a = Memory(runs ? call.a() : some, p.type_a, call.offset_a, seed),
                .b = Memory(runs ? call.b() : some, p.type_b, call.offset_b, seed + 1),
                .c = Memory(runs ? call.c() : some, p.type_c, call.offset_c, seed + 2),
                .bias = Memory(runs && call.has_bias() ? call.bias() : some, p.type_bias, 0, seed + 3),
                .residual = Memory(runs && call.has_residual() ? call.residual() : some, p.type_c, 0, seed + 4)};
    const auto a = on.a.bytes(), b = on.b.bytes(), before = on.c.bytes(), bias = on.bias.bytes(), residual = on.residual.bytes();
    const tmmStatus_t status = run(call, handle, on);
    if (on.a.bytes() != a || on.b.bytes() != b) return "A or B was written";
    if (on.bias.bytes() != bias || on.residual.bytes() != residual) return "the bias or the residual was written";
    if (!legal) {
        if (on.c.bytes() != before) return "C was written";
        return complaint_about_refusal(status, handle);
    }
    if (status != TMM_STATUS_SUCCESS) return fmt::format("{}: {}", tmmStatusString(status), tmmLastError(handle));
    Memory reference(call.c(), p.type_c, call.offset_c, seed + 2);
    if (!call.is_empty()) multiply(call, on.a, on.b, on.bias, on.residual, reference);
    for (Memory* memory : {&on.c, &reference}) memory->clear_signs_of_zeros();
    const std::vector<std::byte> expected = reference.bytes(), after = on.c.bytes();
    const auto differs = std::mismatch(after.begin(), after.end(), expected.begin()).first;
    if (differs == after.end()) return {};
    return fmt::format("byte {} of C's memory of {} is wrong", differs - after.begin(), after.size());
}

}  // namespace

Answer answer_to_call(std::string_view input) {
    const Call call = call_of(input);
    const tmmHandle_t handle = call.all_families ? handles().any : handles().naive;
    const Verdict problem = is_legal_problem(call);
    const bool fits = call.a().extent() <= kLargestRun && call.b().extent() <= kLargestRun && call.c().extent() <= kLargestRun &&
                      (!call.has_residual() || call.residual().extent() <= kLargestRun) &&
                      Wide{call.problem.m} * call.problem.n * call.problem.k * call.problem.batch <= kMostProducts;
    const bool planned = problem == Verdict::unknown || (problem == Verdict::yes && !fits);
    const bool legal = problem == Verdict::yes && are_legal_arguments(call);
    const std::string complaint = planned ? complaint_about_plan(call, handle, problem)
                                          : complaint_about_result(call, handle, legal, static_cast<unsigned>(input.size()));
    return {.taken = legal && !planned, .complaint = complaint.empty() ? "" : described(call) + ": " + complaint};
}

}  // namespace tmm::testing
