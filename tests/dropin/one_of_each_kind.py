"""Picks lines of a recorded shapes file for a short run of tmm-tune: those first that differ from the ones before in more than their sizes.

one_of_each_kind.py FILE MOST: writes at most so many lines to stdout, in the order of the file within each round.
"""

import sys

# Words that say how large a product is, or how far its lines lie apart.
_SIZES = ("batch=", "lda=", "ldb=", "ldc=", "stride_a=", "stride_b=", "stride_c=")


def kind_of(line: str) -> tuple:
    words = line.partition("#")[0].split()[3:]
    return tuple(word.partition("=")[0] if word.startswith(_SIZES) else word for word in words)


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.partition("#")[0].split()]
    seen = {}
    rounds = []
    for line in lines:
        seen[kind_of(line)] = seen.get(kind_of(line), -1) + 1
        rounds.append((seen[kind_of(line)], len(rounds), line))
    for _, _, line in sorted(rounds)[: int(sys.argv[2])]:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
