"""Compares two runs of the same tests (pytest --junitxml): the same ones must have passed, failed and been skipped."""

import collections
import sys
import xml.etree.ElementTree


def outcomes(file: str) -> dict:
    found = {}
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        found[f"{case.get('classname')}.{case.get('name')}"] = min(kinds, default="passed")
    return found


def main() -> int:
    if len(sys.argv) != 3:
        print("same_outcomes.py BEFORE.xml AFTER.xml", file=sys.stderr)
        return 2
    before, after = map(outcomes, sys.argv[1:])
    for name, run in zip(sys.argv[1:], (before, after)):
        counts = collections.Counter(run.values())
        print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    others = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in others:
        print(f"  {name}: {before.get(name, 'not run')} before, {after.get(name, 'not run')} after")
    if not before:
        print("no test ran")
    return 1 if others or not before else 0


if __name__ == "__main__":
    sys.exit(main())
