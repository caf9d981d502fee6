#!/usr/bin/env bash
# The gate of the action: settings come as variables, results go into the folder $RESULTS, the verdict and the scores into
# the summary of the job.  Ends with 0 if the comparison could be made; its exit code is the output "code".  Ends with 2 if an
# input is wrong, and the summary has the message.
# Runners with macOS have bash 3.2, without mapfile and without empty arrays under "set -u", and the sed of BSD.
set -eo pipefail

lines() {  # the lines of a text, without empty ones, into the array LINES
    local each; LINES=()
    while IFS= read -r each; do LINES+=("$each"); done < <(sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d' <<<"$1")
}

plain() {  # tables in which GitHub makes no mention and no reference of a name that begins with @ or #: a space of no width
    sed -E 's/(^|[^[:alnum:])])([@#]+)/\1\2'$'\xe2\x80\x8b''/g'
}

best_first() {  # a table by its second column, where no name is: a bar in one has a backslash before it
    awk -F ' [|] ' 'NR < 3 {print; fflush(); next} {print $2 "\t" $0 | "LC_ALL=C sort -rns | cut -f 2-"}'
}

quoted() { echo '```text'; sed 's/`/'"'"'/g'; echo '```'; }  # within a fence, a name cannot end it

refuse() {  # end with the message of the standard input
    local text; text=$(cat)
    echo "$text" >&2
    { echo "## Not compared"; echo; quoted <<<"$text"; } >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    exit "$1"
}

# What this prints is text for the log: a name such as ##[add-mask]x is no command of the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n'); echo "::stop-commands::$token" >&2; trap 'echo "::$token::" >&2' EXIT

mkdir -p "$RESULTS"; rm -f "$RESULTS/report.html"  # that of another gate in the same job
lines "$JUDGMENTS"; judgments=("${LINES[@]}")
lines "$RUNS"; runs=("${LINES[@]}")
if [[ ${#judgments[@]} == 0 || ${#runs[@]} == 0 ]]; then
    refuse 2 <<<"error: name files of judgments and of runs"
fi
common=(); for each in "${judgments[@]:1}"; do common+=(-j "$each"); done
[[ -z "$ASSESSOR" ]] || common+=(--assessor "$ASSESSOR")
lines "$MEASURE"; first=("${LINES[@]:0:1}")
measures=(); for each in "${LINES[@]}"; do measures+=(-m "$each"); done
gate=()
[[ -z "$CANDIDATE" ]] || gate+=(--candidate "$CANDIDATE")
[[ -z "$BASELINE" ]] || gate+=(--baseline "$BASELINE")
lines "$REQUIRE"
[[ ${#LINES[@]} != 0 ]] || refuse 2 <<<"error: name a condition, as in delta>0: without one, every candidate would pass"
for each in "${LINES[@]}"; do gate+=(--require "$each"); done

code=0
venire compare "${common[@]}" "${measures[@]}" "${gate[@]}" --format markdown -o "$RESULTS/comparison.md" \
    -- "${judgments[0]}" "${runs[@]}" 2>"$RESULTS/messages.txt" || code=$?
if [[ $code != 0 && $code != 1 ]]; then
    refuse "$code" <"$RESULTS/messages.txt"
fi

{
    if [[ $code == 0 ]]; then echo "## Passed"; else echo "## Not passed"; fi
    echo
    sed -n -e '/^error: not passed/p' -e '/^note: passed/p' "$RESULTS/messages.txt" | quoted
    echo
    plain <"$RESULTS/comparison.md"
    echo
    echo "### All systems"
    echo
    venire evaluate "${common[@]}" "${measures[@]}" --format markdown -q -- "${judgments[0]}" "${runs[@]}" 2>/dev/null |
        best_first | plain || echo "Name the judge whose labels score the runs to see all systems."
    echo
    echo "<details><summary>Notes</summary>"
    echo
    quoted <"$RESULTS/messages.txt"
    echo
    echo "</details>"
} >"$RESULTS/summary.md"
cat "$RESULTS/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
venire report "${common[@]}" ${first:+-m "${first[0]}"} -o "$RESULTS/report.html" -q -- "${judgments[0]}" "${runs[@]}" \
    >/dev/null || echo "no report could be written" >&2
{
    echo "code=$code"
    if [[ $code == 0 ]]; then echo "passed=true"; else echo "passed=false"; fi
} >>"${GITHUB_OUTPUT:-/dev/null}"
