# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of softhca(1) for bash. softhca itself knows the words: `softhca --complete WORD...`.

_softhca() {
	local words=() rest=$COMP_LINE word before i value from keep

	# COMP_WORDS has "--topo", "=" and "ring" where softhca gets one word.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		before=${rest%%"$word"*}
		if [[ -z $word && $rest == [[:space:]]* ]] || [[ $i == 0 || $before == *[[:space:]]* ]]; then
			words+=("$word")
		else
			words[-1]+=$word
		fi
		rest=${rest#"$before$word"}
	done
	# Up to here bash keeps the last word by itself.
	keep=${words[-1]%"${words[-1]##*[=:]}"}

	COMPREPLY=()
	while IFS=$'\t' read -r value _; do
		case $value in
		:files)
			# Would quote the colon of another candidate.
			((${#COMPREPLY[@]})) || compopt -o filenames 2>/dev/null
			value=${words[-1]#"$keep"}
			while IFS= read -r word; do
				COMPREPLY+=("$word")
			done < <(compgen -f -- "$value")
			;;
		:command\ *)
			from=$((${value#:command } + 1))
			_softhca_command "$from" "${words[@]}"
			return
			;;
		*)
			[[ $value == *[:=,] ]] && compopt -o nospace 2>/dev/null
			COMPREPLY+=("${value#"$keep"}")
			;;
		esac
	done < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
}

# The words from number $1 on are another command.
_softhca_command() {
	local from=$1 word
	shift

	if declare -F _command_offset >/dev/null; then
		_command_offset "$from"
		return
	fi
	compopt -o filenames 2>/dev/null
	while IFS= read -r word; do
		COMPREPLY+=("$word")
	done < <(if (($# - 1 > from)); then compgen -f -- "${!#}"; else compgen -c -f -- "${!#}"; fi)
}

complete -F _softhca softhca
