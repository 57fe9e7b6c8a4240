# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of softhca(1) for fish. softhca itself knows the words: `softhca --complete WORD...`.

function __softhca_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] --complete $words[2..] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
            case ':command *'
                # The words of the other command, as if they were all of the line.
                set -l from (math (string replace ':command ' '' -- $line) + 2)
                complete -C (string join ' ' -- (string escape -- $words[$from..]) "$current")
            case '*'
                echo -- $line
        end
    end
end

complete -c softhca -f -a '(__softhca_complete)'
