// Operands that are prepared once, on a GPU whose kernels multiply planes: the same bits as without, also in a graph and by several
// streams at once, and the FMAs' Inf and NaN where a prepared operand does not fit its planes.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/choice/validity.h"
#include "generator/text/text.h"
#include "runtime/api/validate.h"
#include "tests/support/api_testing.h"
#include "tests/support/captured_stream.h"

using namespace api_testing;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

constexpr const char* kConfigs[] = {
    "family=wgmma,block_m=128,block_n=128,block_k=64,stages=3,vector_width=8,boundary=hardware,warps_m=2,planes=2,promote_k=32",
    "family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,planes=3,promote_k=64",
    "family=wgmma,block_m=128,block_n=64,block_k=64,stages=3,vector_width=8,boundary=hardware,warps_m=2,planes=2,promote_k=32,swap_ab=1",
};

constexpr Product kCube{.m = 512, .n = 512, .k = 512};
constexpr Product kProducts[] = {
    kCube,
    {.layout = TMM_COL_MAJOR, .op_a = TMM_TRANS, .m = 200, .n = 328, .k = 457, .alpha = 1.5f, .pad_b = 3},
};

bool no_planes() {
    if (no_gpu()) return true;
    const tmmGemmProblem_t problem = problem_of(kCube);
    const auto reason =
        tmm::why_invalid(tmm::check_problem(&problem).request.problem, tmm::parse_config(kConfigs[0]), tmm::open_device(0)->info());
    if (!reason) return false;
    MESSAGE("skipped: ", *reason);
    return true;
}

// Makes the config the product's winner.
void store_winner(const std::string& file, const Product& p, const char* config) {
    const tmmGemmProblem_t given = problem_of(p);
    const tmm::GemmProblem problem = tmm::check_problem(&given).request.problem;
    tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
    database.set_environment(tmm::Environment{.device = tmm::open_device(0)->info()});
    tmm::Measurement measurement;
    measurement.median_us = measurement.low_us = measurement.high_us = 1;
    measurement.samples = 3;
    measurement.error_ratio = 0.1;
    measurement.kernel_name = "tmm_test";
    measurement.kernel_hash = "0123456789abcdef";
    database.announce(problem, tmm::parse_config(config), measurement.kernel_name);
    database.record(problem, tmm::parse_config(config), {}, measurement);
    database.decide(problem, {}, {.config = tmm::parse_config(config), .median_us = 1, .candidates = 1, .reason = "only one"});
}

// A product's plan of a given config.
class Planned {
public:
    Planned(const Product& p, const char* config) : p_(p), database_(store(p, config)), on(0, database_) {
        const tmmGemmProblem_t problem = problem_of(p);
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        char text[4096];
        REQUIRE(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
        REQUIRE_MESSAGE(std::string(text).find("match: exact") != std::string::npos, text);
    }
    ~Planned() { tmmPlanDestroy(plan); }
    Planned(const Planned&) = delete;
    Planned& operator=(const Planned&) = delete;

    tmm::DeviceBuffer room(tmmOperand_t operand) const {
        std::size_t bytes = 0;
        REQUIRE(tmmPlanPreparedSize(plan, operand, &bytes) == TMM_STATUS_SUCCESS);
        REQUIRE(bytes > 0);
        tmm::DeviceBuffer buffer(on.device, bytes);
        on.device->fill_bytes(buffer.data(), 0xff, bytes);
        return buffer;
    }
    void prepare(tmmOperand_t operand, const void* matrix, const tmm::DeviceBuffer& room, CUstream stream = nullptr) const {
        CHECK_MESSAGE(tmmPlanPrepare(plan, stream, operand, matrix, room.data(), room.bytes()) == TMM_STATUS_SUCCESS,
                      tmmLastError(on.handle));
    }
    void run(const tmmGemmArgs_t& args, CUstream stream = nullptr) const {
        CHECK_MESSAGE(tmmPlanRun(plan, stream, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
    }
    // C, which was NaN before.
    std::vector<float> result(const OnDevice& a, const OnDevice& b, const void* prepared_a = nullptr,
                              const void* prepared_b = nullptr) const {
        const OnDevice c(on, std::vector<float>(p_.size_c(), kNan));
        tmmGemmArgs_t args = args_of(p_, a.data(), b.data(), c.data());
        args.prepared_a = prepared_a;
        args.prepared_b = prepared_b;
        run(args);
        on.device->synchronize();
        return c.read();
    }
    std::string wrong(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) const {
        return difference(p_, a, b, std::vector<float>(p_.size_c(), kNan), c);
    }

private:
    std::string store(const Product& p, const char* config) const {
        std::string file = scratch_.file("tuned.db");
        store_winner(file, p, config);
        return file;
    }
    Product p_;
    Scratch scratch_;
    std::string database_;

public:
    Fixture on;
    tmmPlan_t plan = nullptr;
};

}  // namespace

TEST_CASE("prepared operands give the same bits as those that each run splits") {
    if (no_planes()) return;
    for (const char* config : kConfigs) {
        for (const Product& p : kProducts) {
            CAPTURE(std::string(config));
            CAPTURE(p.text());
            const Planned planned(p, config);
            const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2);
            // The second pair sends runs to the plan for any pointers.
            const OnDevice da(planned.on, a), db(planned.on, b), moved_a(planned.on, a, 1), moved_b(planned.on, b, 1);
            const tmm::DeviceBuffer prepared_a = planned.room(TMM_OPERAND_A), prepared_b = planned.room(TMM_OPERAND_B);
            const std::vector<float> expected = planned.result(da, db);
            CHECK(planned.wrong(a, b, expected) == "");
            for (const OnDevice* source_b : {&db, &moved_b}) {
                planned.prepare(TMM_OPERAND_A, da.data(), prepared_a);
                planned.prepare(TMM_OPERAND_B, source_b->data(), prepared_b);
                for (const OnDevice* x : {&da, &moved_a}) {
                    CHECK(same_bits(planned.result(*x, db, nullptr, prepared_b.data()), expected));
                    CHECK(same_bits(planned.result(*x, db, prepared_a.data(), nullptr), expected));
                    CHECK(same_bits(planned.result(*x, db, prepared_a.data(), prepared_b.data()), expected));
                    CHECK(same_bits(planned.result(*x, db), expected));
                }
            }
        }
    }
}

TEST_CASE("preparing, and runs with what was prepared, are captured") {
    if (no_planes()) return;
    const CapturedStream stream;
    for (const char* config : kConfigs) {
        CAPTURE(std::string(config));
        const Product& p = kCube;
        const Planned planned(p, config);
        const std::vector<float> a = normal_values(p.size_a(), 3), b = normal_values(p.size_b(), 4);
        const OnDevice da(planned.on, a), db(planned.on, b), dc(planned.on, std::vector<float>(p.size_c(), kNan));
        const tmm::DeviceBuffer prepared_a = planned.room(TMM_OPERAND_A), prepared_b = planned.room(TMM_OPERAND_B);
        const std::vector<float> expected = planned.result(da, db);
        tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
        args.prepared_b = prepared_b.data();
        stream.capture_and_replay([&] {
            planned.prepare(TMM_OPERAND_B, db.data(), prepared_b, stream.get());
            planned.run(args, stream.get());
        });
        CHECK(same_bits(dc.read(), expected));
        // Prepared before, and all that is left in the graph is the product and what follows it.
        planned.prepare(TMM_OPERAND_A, da.data(), prepared_a);
        planned.on.device->synchronize();
        for (const void* of_a : {static_cast<const void*>(nullptr), static_cast<const void*>(prepared_a.data())}) {
            dc.write(std::vector<float>(p.size_c(), kNan));
            args.prepared_a = of_a;
            stream.capture_and_replay([&] { planned.run(args, stream.get()); });
            CHECK(same_bits(dc.read(), expected));
        }
    }
}

TEST_CASE("Inf and NaN in a prepared operand, or beside one, come out where a loop of FMAs puts them") {
    if (no_planes()) return;
    for (const char* config : kConfigs) {
        for (const Product& p : kProducts) {
            CAPTURE(std::string(config));
            CAPTURE(p.text());
            const Planned planned(p, config);
            const std::vector<float> a = normal_values(p.size_a(), 5), b = normal_values(p.size_b(), 6);
            std::vector<float> odd_a = a, odd_b = b;
            odd_a[p.at_a(7, 33)] = kNan;
            odd_b[p.at_b(100, 20)] = kInf;
            odd_b[p.at_b(0, p.n - 1)] = -kInf;
            const OnDevice da(planned.on, a), db(planned.on, b), dodd_a(planned.on, odd_a), dodd_b(planned.on, odd_b);
            const tmm::DeviceBuffer prepared_a = planned.room(TMM_OPERAND_A), prepared_b = planned.room(TMM_OPERAND_B);
            const std::vector<float> expected = planned.result(da, db);

            planned.prepare(TMM_OPERAND_B, dodd_b.data(), prepared_b);
            const std::vector<float> odd = planned.result(da, dodd_b, nullptr, prepared_b.data());
            CHECK(planned.wrong(a, odd_b, odd) == "");
            CHECK(same_bits(odd, planned.result(da, dodd_b)));
            planned.prepare(TMM_OPERAND_A, da.data(), prepared_a);
            CHECK(same_bits(odd, planned.result(da, dodd_b, prepared_a.data(), prepared_b.data())));

            // Prepared again, it fits; and what the run itself splits has a mark of its own.
            planned.prepare(TMM_OPERAND_B, db.data(), prepared_b);
            CHECK(same_bits(planned.result(da, db, prepared_a.data(), prepared_b.data()), expected));
            CHECK(planned.wrong(odd_a, b, planned.result(dodd_a, db, nullptr, prepared_b.data())) == "");
            CHECK(same_bits(planned.result(da, db, nullptr, prepared_b.data()), expected));
        }
    }
}

TEST_CASE("runs on two streams at once share a prepared operand") {
    if (no_planes()) return;
    const CapturedStream streams[2];
    const Product& p = kCube;
    const Planned planned(p, kConfigs[0]);
    const std::vector<float> b = normal_values(p.size_b(), 8);
    const OnDevice db(planned.on, b);
    const tmm::DeviceBuffer prepared_b = planned.room(TMM_OPERAND_B);
    planned.prepare(TMM_OPERAND_B, db.data(), prepared_b);
    std::size_t bytes = 0;
    REQUIRE(tmmPlanWorkspaceSize(planned.plan, &bytes) == TMM_STATUS_SUCCESS);
    std::vector<OnDevice> as, cs;
    std::vector<tmm::DeviceBuffer> workspaces;
    std::vector<std::vector<float>> expected;
    for (unsigned i = 0; i < 2; ++i) {
        std::vector<float> a = normal_values(p.size_a(), 10 + i);
        // One of them is computed by FMAs.
        if (i == 1) a[p.at_a(3, 3)] = kInf;
        as.emplace_back(planned.on, a);
        cs.emplace_back(planned.on, std::vector<float>(p.size_c(), kNan));
        workspaces.emplace_back(planned.on.device, bytes);
        expected.push_back(planned.result(as[i], db));
    }
    planned.on.device->synchronize();
    for (int round = 0; round < 50; ++round) {
        for (std::size_t i = 0; i < 2; ++i) {
            tmmGemmArgs_t args = args_of(p, as[i].data(), db.data(), cs[i].data());
            args.prepared_b = prepared_b.data();
            args.workspace = workspaces[i].data();
            args.workspace_size = bytes;
            planned.run(args, streams[i].get());
        }
    }
    for (std::size_t i = 0; i < 2; ++i) {
        planned.on.device->synchronize(streams[i].get());
        CHECK(same_bits(cs[i].read(), expected[i]));
    }
}

TEST_CASE("what can't be prepared has its status and launches nothing; alpha = 0 reads nothing that is prepared") {
    if (no_planes()) return;
    const Product& p = kCube;
    const Planned planned(p, kConfigs[0]);
    const OnDevice db(planned.on, normal_values(p.size_b(), 9));
    const tmm::DeviceBuffer room = planned.room(TMM_OPERAND_B);
    const auto contents = [&] {
        planned.on.device->synchronize();
        std::vector<unsigned char> bytes(room.bytes());
        planned.on.device->copy_to_host(bytes.data(), room.data(), bytes.size());
        return bytes;
    };
    const auto prepare = [&](const void* matrix, void* prepared, std::size_t size) {
        return tmmPlanPrepare(planned.plan, nullptr, TMM_OPERAND_B, matrix, prepared, size);
    };
    const std::vector<unsigned char> untouched(room.bytes(), 0xff);
    CHECK(prepare(nullptr, room.data(), room.bytes()) == TMM_STATUS_NULL_B);
    CHECK(prepare(reinterpret_cast<const char*>(db.data()) + 2, room.data(), room.bytes()) == TMM_STATUS_MISALIGNED_POINTER);
    CHECK(prepare(db.data(), nullptr, room.bytes()) == TMM_STATUS_NULL_POINTER);
    CHECK(prepare(db.data(), static_cast<char*>(room.data()) + 128, room.bytes()) == TMM_STATUS_MISALIGNED_PREPARED);
    CHECK(prepare(db.data(), room.data(), room.bytes() - 1) == TMM_STATUS_PREPARED_TOO_SMALL);
    CHECK((contents() == untouched));

    const OnDevice dc(planned.on, std::vector<float>(p.size_c(), kNan));
    tmmGemmArgs_t args = args_of(p, nullptr, nullptr, dc.data());
    const float zero = 0;
    args.alpha = &zero;
    args.prepared_a = args.prepared_b = room.data();
    planned.run(args);
    planned.on.device->synchronize();
    CHECK(same_bits(dc.read(), std::vector<float>(p.size_c(), 0.0f)));
    CHECK((contents() == untouched));
}
