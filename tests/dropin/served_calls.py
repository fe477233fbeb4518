"""Sums up a log of libtmm_cublas.so or libtmm_blas.so at TMM_LOG=debug: how many calls of each function tmm multiplied, how many not and why.

With --least N it ends with 1 where tmm multiplied fewer calls, with --of FUNCTION=N where it multiplied fewer of that function.
"""

import argparse
import collections
import re
import sys

# "tmm: cublasGemmEx 16 16 16 …: by tmm", "tmm: cublasLtMatmul: by cuBLAS, since …", "tmm: 16 16 16 …: by the BLAS behind".
_CALL = re.compile(r"tmm: (?P<function>[A-Za-z_]\w*)? ?(?P<shape>\d[^:]*)?: by (?P<who>tmm|cuBLAS|the BLAS behind)(?:, since (?P<why>.*))?$")
# "tmm: 16 16 16 …: by tmm, near: …", "tmm: 16 16 16 …: by cuBLAS, since …"
_DECISION = re.compile(r"tmm: (?P<shape>\d[^:]*): by (?P<who>tmm|cuBLAS|the BLAS behind), (?:since )?(?P<why>.*)$")


def blas_function(shape: str) -> str:
    return ("d" if " dtype=f64" in shape else "s") + ("syrk" if " result=" in shape else "gemm")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--least", type=int, default=0, metavar="N")
    parser.add_argument("--of", action="append", default=[], metavar="FUNCTION=N")
    options = parser.parse_args()
    calls, reasons, decisions, served = collections.Counter(), collections.Counter(), collections.Counter(), 0
    others = []
    with open(options.log, encoding="utf-8", errors="replace") as file:
        for line in map(str.rstrip, file):
            match = _CALL.match(line)
            if match and (match["function"] or not match["why"]):
                calls[match["function"] or blas_function(match["shape"]), match["who"]] += 1
                served += match["who"] == "tmm"
                if match["who"] != "tmm":
                    reasons[match["why"] or "that was decided at its shape's first call"] += 1
            elif match := _DECISION.match(line):
                # A match counts by its kind alone, a reason by its words without numbers.
                why = match["why"].partition(":")[0] if match["who"] == "tmm" else re.sub(r"\(.*", "", match["why"])
                decisions[match["who"], why.strip()] += 1
            else:
                others.append(line)
    print(f"{served} calls by tmm, {sum(calls.values()) - served} not")
    for (function, who), count in sorted(calls.items()):
        print(f"  {function}: {count} by {who}")
    for why, count in reasons.most_common(12):
        print(f"  not by tmm, since {why}: {count} calls")
    for (who, why), count in decisions.most_common(12):
        print(f"  by {who}, {why}: {count} shapes")
    for line in others[:10]:
        print(f"  {line}")
    wanted = (one.partition("=") for one in options.of)
    return 0 if served >= options.least and all(calls[function, "tmm"] >= int(least) for function, _, least in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
