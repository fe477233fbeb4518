// Tests that a candidate's record depends on the candidate alone: neither the machine's failures nor the values of alpha and beta decide
// anything.
#include <doctest/doctest.h>

#include "tests/support/kernels/planted_testing.h"

using namespace tmm;
using namespace tuner_testing;

TEST_CASE("a kernel that does not compile is data") {
    PlantedFolder folder("16 16 16\n");
    const KernelConfig broken = candidates(folder).at(1);
    folder.plant(template_of(broken), kAnchor, "    static_assert(!(" + in_kernel(broken) + "), \"planted\");");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    const std::string outcome = folder.outcome(in_sql(broken));
    // The outcome says where in the templates the fault lies, and names no path of this machine.
    CHECK(outcome.starts_with("compile_failed: tmm/" + template_of(broken) + ":"));
    CHECK(outcome.find("planted") != std::string::npos);
    CHECK(folder.wins(in_sql(broken)) == 0);
}

TEST_CASE("what did not compile is tried again while its problem has no decision") {
    TunerFolder folder("4 4 4\n");
    fail_to_compile(folder, "tmm/families/simt/kernel.cuh:1:1: error: planted");
    const Finished failed = folder.tune();
    CAPTURE(failed.err);
    CHECK(failed.status != 0);
    REQUIRE(folder.count("SELECT count(*) FROM measurement WHERE outcome = 1") > 0);
    REQUIRE(folder.count("SELECT count(*) FROM selection") == 0);
    folder.environment.erase("TMM_CXX");
    const Finished next = folder.tune();
    CAPTURE(next.err);
    CHECK(next.status == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
}

TEST_CASE("a compiler that can't do its work is no kernel's failure, and is told as one of the machine") {
    for (const char* message :
         {"error: No space left on device", "fatal error: Killed signal terminated program cc1plus",
          "cc1plus: out of memory allocating 65536 bytes", "c++: schwerer Fehler: Signal Killed beendete Programm cc1plus"}) {
        CAPTURE(message);
        TunerFolder folder("4 4 4\n");
        fail_to_compile(folder, message);
        const Finished full = folder.tune();
        CAPTURE(full.err);
        CHECK(full.status == 4);
        CHECK(full.err.find(message) != std::string::npos);
        CHECK(folder.count("SELECT count(*) FROM measurement") == 0);
        folder.environment.erase("TMM_CXX");
        CHECK(folder.tune().status == 0);
    }
}

TEST_CASE("a compiler that lacks memory now and then costs no candidate") {
    TunerFolder folder("4 4 4\n");
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    // The first time that it sees a source.
    fs::create_directory(folder.path / "seen");
    set_compiler(folder,
                 "for source; do :; done\nmkdir " + (folder.path / "seen").string() +
                     "/$(cksum < $source | tr -d ' ') 2>/dev/null && { echo 'cc1plus: out of memory' >&2; exit 1; }\nexec c++ \"$@\"");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
    CHECK(std::distance(fs::directory_iterator(folder.path / "seen"), fs::directory_iterator()) > 4);
}

TEST_CASE("nothing is decided while the default config does not compile") {
    PlantedFolder folder("16 16 16\n");
    const KernelConfig first = candidates(folder).at(0);
    folder.plant(template_of(first), kAnchor, "    static_assert(!(" + in_kernel(first) + "), \"planted\");");
    for (int run = 0; run < 2; ++run) {
        const Finished finished = folder.tune();
        CAPTURE(finished.err);
        CHECK(finished.status == 6);
        CHECK(finished.out.find("the default config does not compile: tmm/" + template_of(first)) != std::string::npos);
        CHECK(folder.wins("1") == 0);
        CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome = 0") > 0);
    }
}

TEST_CASE("a decision is made anew where it was made from what says nothing of its candidates") {
    TunerFolder folder("16 16 16\n");
    REQUIRE(folder.tune().status == 0);
    const int measured = folder.count("SELECT count(*) FROM measurement");
    const std::string decision = folder.query("SELECT max(id) FROM selection");
    const std::string other =
        folder.query("SELECT max(config_id) FROM measurement WHERE config_id NOT IN (SELECT config_id FROM selection)");
    std::string spoilt;
    SUBCASE("a compiler without memory") {
        spoilt = "'compile_failed'), detail = 'cc1plus: out of memory allocating 65536 bytes after a total of 3055616 bytes'";
    }
    SUBCASE("an overflow by alpha") {
        spoilt =
            "'wrong_result'), detail = 'C[0][1] = inf, expected 91226.8; 9 of 256 checked elements differ (normal values, alpha 30000, "
            "beta 0)'";
    }
    SUBCASE("a time of alpha = 0") {
        spoilt = "'ok'), error_ratio = 0";
    }
    folder.query("UPDATE measurement SET outcome = (SELECT value FROM outcome WHERE name = " + spoilt + " WHERE config_id = " + other);
    const Finished next = folder.tune();
    CAPTURE(next.err);
    CHECK(next.status == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement") == measured + 1);
    CHECK(folder.query("SELECT max(id) FROM selection") != decision);
    CHECK(folder.query("SELECT outcome || ' ' || (error_ratio > 0) FROM measurement ORDER BY id DESC LIMIT 1") == "0 1");
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("the values of alpha and beta decide nothing") {
    TunerFolder folder;
    for (const char* scalars :
         {"alpha=30000", "alpha=0", "alpha=1e-30", "alpha=-3e38", "beta=1e30", "alpha=0 beta=1", "alpha=1e20 beta=-1e20"}) {
        CAPTURE(scalars);
        folder.set_shapes(std::string("16 24 16 dtype=f16 ") + scalars + "\n");
        std::filesystem::remove(folder.database());
        const Finished finished = folder.tune();
        CAPTURE(finished.err);
        CHECK(finished.status == 0);
        CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
        CHECK(folder.count("SELECT count(*) FROM measurement WHERE error_ratio = 0") == 0);
    }
}
