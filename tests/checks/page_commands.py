"""The commands that people are told to type: in README.md, docs/package.md and python/README.md, and in the last lines of scripts/quickstart.

    page_commands.py --check BUILD    sees that each can be run: its syntax, its program, its options, the files that it names
    page_commands.py --script         prints a shell script that runs all of them, on a machine without a GPU, for scripts/test_trees
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent.parent
PAGES = ("README.md", "docs/package.md", "python/README.md")
TOOLS = ("tmm-tune", "tmm-db", "tmm-gen", "tmm-bench")
_COMMAND = re.compile(r"(?:\w+=\S+ )*(?:scripts/|\.ci/|build/|~/|(?:cmake|cpack|cc|pip|python3|export|apt-get|tmm-[a-z]+) |LD_PRELOAD=)")
_WORD_FOR_ANY = re.compile(r"[<>…]|SHAPE")


class Command(NamedTuple):
    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def commands_of(page: str) -> list[Command]:
    found = []
    fence = None
    for number, line in enumerate((SOURCE / page).read_text().splitlines(), 1):
        if line.startswith("```"):
            fence = None if fence is not None else line[3:]
        elif line.startswith("    ") or fence in ("", "sh", "bash", "console"):
            text = re.sub(r"^\s*(\$ )?", "", line)
            text = re.sub(r"\s+#.*", "", text)
            if _COMMAND.match(text):
                found.append(Command(page, number, text))
        elif fence is None:
            for text in re.findall(r"`([^`]+)`", line):
                if _COMMAND.match(text + " ") and re.search(r"[ =]|^scripts/\w+$", text):
                    found.append(Command(page, number, text))
    return found


def last_lines_of_quickstart() -> list[Command]:
    page = "scripts/quickstart"
    found = []
    here = False
    for number, line in enumerate((SOURCE / page).read_text().splitlines(), 1):
        if line.endswith("<<EOF"):
            here = True
        elif line == "EOF":
            here = False
        elif here and (match := re.match(r"(?:Next:)? +(\$bin/\S+(?: \S+)*)", line)):
            text = match[1].replace("$bin", "build/release").replace("$gpu", "host").replace("$peers", "cublas,naive")
            found.append(Command(page, number, text))
    return found


def faults_of(command: Command, build: Path) -> list[str]:
    """Why the command can't be run, in words."""
    faults = []
    if subprocess.run(["bash", "-n", "-c", command.text], capture_output=True, check=False).returncode != 0:
        return ["the shell does not understand it"]
    for part in re.split(r"&&|\||;", re.sub(r"\$\([^)]*\)", "", command.text)):
        words = shlex.split(part)
        while words and re.match(r"\w+=", words[0]):
            words.pop(0)
        if not words or words[0] == "export":
            continue
        faults += faults_of_words(words, build)
    return faults


def faults_of_words(words: list[str], build: Path) -> list[str]:
    program, arguments = words[0], words[1:]
    name = Path(program).name
    options = [word.split("=")[0] for word in arguments if word.startswith("--")]
    known = ""
    if name in TOOLS:
        file = next(build.glob(f"*/{name}"), None)
        if file is None:
            return [f"{name} was not built"]
        if program != name and program != f"build/release/{file.relative_to(build)}":
            return [f"{program} is not where the build puts it, {file}"]
        command = [word for word in arguments[:1] if name == "tmm-db" and not word.startswith("-")]
        known = subprocess.run([file, *command, "--help"], capture_output=True, text=True, check=True).stdout
    elif program.startswith(("scripts/", ".ci/")):
        if not os.access(SOURCE / program, os.X_OK):
            return [f"there is no {program}"]
        known = (SOURCE / program).read_text()
    elif program == "cmake":
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
        known = "--preset --build --install --prefix --config --target"
        for option, value in zip(arguments, arguments[1:]):
            if option == "--preset" and value not in [preset["name"] for preset in presets]:
                return [f"there is no preset {value}"]
    elif program in ("cpack", "cc", "pip", "python3", "apt-get") or program.startswith(("~/", "build/python", "build/wheel")):
        return []
    elif not shutil.which(program):
        return [f"there is no program {program}"]
    faults = [f"{program} knows no option {option}" for option in options if option not in known]
    named = [word for word in arguments if re.fullmatch(r"(\./)?(examples|python|docs|bench|tests|scripts)(/\S+)?", word)]
    return faults + [f"there is no {file}" for file in named if not (SOURCE / file).exists()]


def check(build: Path) -> int:
    bad = 0
    for page in (*PAGES, None):
        commands = commands_of(page) if page else last_lines_of_quickstart()
        if len(commands) < 3:
            print(f"{page or 'scripts/quickstart'}: only {len(commands)} commands were found")
            bad += 1
        for command in commands:
            if _WORD_FOR_ANY.search(command.text):
                continue
            for fault in faults_of(command, build):
                print(f"{command}: {fault}")
                bad += 1
    return 1 if bad else 0


class Adaptation(NamedTuple):
    """What a machine without a GPU, and without this project's address, does about a command. An empty command is not run."""

    command: str
    becomes: str = r"\g<0>"
    before: str = ""
    after: str = ""


# Shapes of a size for the emulated device; those that README gives are read, at least.
SMALL = """build/release/tools/tmm-tune --gpu host --shapes shapes.txt --dry-run >/dev/null
printf '256 256 256\\n32 32 2048\\n' >shapes.txt"""
PROGRAM = """mkdir -p ~/program
cp examples/gemm.c ~/program/program.c
cd ~/program"""
PROJECT = """rm -rf ~/project
cp -r examples ~/project
cd ~/project"""
NO_DPKG_DEV = """if ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null; then
    if cpack --config build/release/CPackConfig.cmake >/tmp/cpack.log 2>&1; then echo 'a package without dependencies was made'; exit 1; fi
    grep 'apt-get install dpkg-dev file' /tmp/cpack.log
    apt-get install -y -qq --no-install-recommends dpkg-dev file >/dev/null
fi"""
ADAPTATIONS = (
    Adaptation(r"tmm-tune --gpu 0 (.*shapes\.txt)$", r"tmm-tune --gpu host \1", before=SMALL),
    Adaptation(r"tmm-bench --gpu 0 (.*)$", r"tmm-bench --gpu host \1"),
    # What follows stands for the library's name alone.
    Adaptation(r"^LD_PRELOAD=\S+$", r"\g<0> ls /"),
    Adaptation(r"^(tmm-[a-z]+(?: [a-z]+)?)(?: --help)?$", r"build/release/*/\1 --help"),
    Adaptation(r"^cc program\.c .*", before=PROGRAM, after="./a.out"),
    Adaptation(r"^cmake -B build .*", before=PROJECT, after="cmake --build build && build/gemm_c && build/gemm_cpp"),
    Adaptation(r"^cpack .*", before=NO_DPKG_DEV, after="ls tmm_*.deb"),
    # They take long, and say nothing of the tree.
    Adaptation(r"^scripts/test_arm --.*", ""),
    Adaptation(r"^pip .*", before="export PATH=~/venv/bin:$PATH"),
    Adaptation(r"^export PKG_CONFIG_PATH=.*", before="apt-get install -y -qq --no-install-recommends pkg-config >/dev/null"),
    Adaptation(r"^TMM_\w+=.*|.*[<>…].*", ""),
)


def shapes_file_of_readme() -> str:
    """The block that begins with "# shapes.txt"."""
    text = (SOURCE / "README.md").read_text()
    block = re.search(r"^    # shapes\.txt\n((?:    .*\n)+)", text, re.M)
    return re.sub(r"^    ", "", block[1], flags=re.M)


def project_of_readme() -> str:
    """Makes ~/app of README's C++ and CMake blocks, and builds it."""
    text = (SOURCE / "README.md").read_text()
    code = re.search(r"```cpp\n(.*?)```", text, re.S)[1]
    cmake = re.search(r"```cmake\n(.*?)```", text, re.S)[1]
    return f"""mkdir -p ~/app
cat >~/app/app.cpp <<'TEXT'
{code}int main() {{ return multiply == nullptr; }}
TEXT
cat >~/app/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.16)
project(app LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
add_executable(app app.cpp)
{cmake}TEXT
cmake -S ~/app -B ~/app/build -G Ninja -DCMAKE_PREFIX_PATH=$HOME/.local >/dev/null
cmake --build ~/app/build >/dev/null
~/app/build/app
"""


def script() -> str:
    lines = [
        "set -euo pipefail",
        "clone=$PWD",
        "at() { echo; echo \"== $1\"; cd \"$clone\"; trap 'echo \"$0: failed: '\"'$1'\"'\" >&2' ERR; }",
        "cat >shapes.txt <<'TEXT'\n" + shapes_file_of_readme() + "TEXT",
    ]
    for page in PAGES:
        for command in commands_of(page):
            adaptation = next((a for a in ADAPTATIONS if re.search(a.command, command.text)), None)
            text = re.sub(adaptation.command, adaptation.becomes, command.text) if adaptation else command.text
            if not text:
                lines.append(f"# {command}: not run")
                continue
            lines.append(f"at {shlex.quote(str(command))}")
            if adaptation and adaptation.before:
                lines.append(adaptation.before)
            if command.text == "scripts/quickstart":
                lines += [
                    "scripts/quickstart | tee build-quickstart.log",
                    r"sed -nE 's/^(Next:)? +(build\/release\/[^ ]+( [^ ]+)*)(  .*)?$/\2/p' build-quickstart.log >/tmp/next",
                    "rm build-quickstart.log",
                    "[ $(wc -l </tmp/next) -ge 4 ]",
                    'while read -r next; do at "scripts/quickstart says: $next"; eval "$next"; done </tmp/next',
                ]
            else:
                lines.append(text)
            if adaptation and adaptation.after:
                lines.append(adaptation.after)
        if page == "README.md":
            lines += ["at \"README.md: the program and its CMakeLists.txt\"", project_of_readme()]
    lines += [
        "at 'what all of that has left in the clone'",
        'left=$(git status --porcelain)',
        '[ -z "$left" ] || { echo "git knows nothing of: $left"; exit 1; }',
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="BUILD")
    parser.add_argument("--script", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    if options.script:
        print(script(), end="")
        return 0
    for command in [c for page in PAGES for c in commands_of(page)] + last_lines_of_quickstart():
        print(command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
