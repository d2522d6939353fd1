load common

setup() {
    folder=$(mktemp -d)
}

teardown() {
    rm -rf "$folder"
}

# A copy of the tools in a tree of its own, with a PATH of few programs.
lonely() {
    mkdir -p "$folder/tree/tools" "$folder/bin"
    cp "$repository/tools/setup" "$repository/tools/build" "$folder/tree/tools"
    local name
    for name in bash sh dirname awk sed sort id mkdir tail rm mktemp find chmod cat ln grep; do
        ln -s "$(command -v $name)" "$folder/bin/$name"
    done
}

@test "set-up says nothing where nothing is missing" {
    expect 0 "$repository/tools/setup"
    [ -z "$output" ]
}

@test "without apt it lists what to install, and installs nothing" {
    lonely
    PATH=$folder/bin expect 3 "$folder/tree/tools/setup"
    says cmake ninja-build libjansson-dev "package manager"
}

@test "without root it gives the command" {
    lonely
    printf '#!/bin/sh\nexit 1\n' >"$folder/bin/apt-get"
    rm "$folder/bin/id"
    printf '#!/bin/sh\necho 1000\n' >"$folder/bin/id"
    chmod +x "$folder/bin/apt-get" "$folder/bin/id"
    PATH=$folder/bin expect 3 "$folder/tree/tools/setup"
    says "as root: apt-get install" cmake
}

@test "an installation that fails shows its words, the command and the log" {
    lonely
    printf '#!/bin/sh\necho "E: no space left" >&2\nexit 100\n' >"$folder/bin/apt-get"
    rm "$folder/bin/id"
    printf '#!/bin/sh\necho 0\n' >"$folder/bin/id"
    chmod +x "$folder/bin/apt-get" "$folder/bin/id"
    PATH=$folder/bin expect 3 "$folder/tree/tools/setup"
    says "E: no space left" "by hand: apt-get update" "build/setup.log"
}

@test "an unknown NVRTC release names those that there are" {
    expect 3 "$repository/tools/setup" --nvrtc 9.2
    says 9.2 11.8 12.9
    expect 2 "$repository/tools/setup" --nosuch
    says --nosuch
    expect 2 "$repository/tools/build" nosuch
    says nosuch release dev
}

@test "help is the head of the file, and starts nothing" {
    expect 0 "$repository/tools/setup" --help
    says "tools/setup --nvrtc"
    expect 0 "$repository/tools/build" --help
    says "tools/build [PRESET]"
    expect 0 "$repository/tools/test" --help
    says "--quick"
    expect 0 "$repository/tools/example" --help
    says "tools/example FOLDER"
    expect 2 "$repository/tools/example" --nosuch
    says "tools/example FOLDER"
}
