#!/usr/bin/env bash
# conformance.sh BINARY SHARED: runs the shared conformance suites against a
# server of this build and fails on every case that is not named, with its
# reason, in conformance-known.txt. Without SHARED it fails when CI=true, and
# skips else.
set -uo pipefail
binary=$(realpath "${1:?binary}"); shared=${2:?shared folder}
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$shared/conformance" ]; then
	echo "conformance: no shared suites at $shared"
	[ "${CI:-}" = true ] && exit 1
	exit 0
fi
cache=${CACHE:-${TMPDIR:-/tmp}/milena-conformance}; mkdir -p "$cache"
work=$(mktemp -d); server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
for tool in runner canonical evolution kafka; do
	(cd "$shared/conformance/$tool" && go build -o "$cache/$tool" .) || exit 2
done

# The suites want a server with default settings; each gets a fresh one.
start() {
	[ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
	rm -rf "$work/data" "$work/out"
	env -i PATH="$PATH" HOME="$work" "$binary" serve --data-dir "$work/data" --registry-listen 127.0.0.1:0 --kafka-listen 127.0.0.1:0 \
		--broker-listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 "$@" >"$work/out" 2>"$work/log" &
	server=$!
	for _ in $(seq 200); do
		grep -qs "^ready" "$work/out" && break
		kill -0 "$server" 2>/dev/null || { cat "$work/log"; exit 2; }
		sleep 0.05
	done
	url=$(awk '$1=="registry"{print $2; exit}' "$work/out"); kafka=$(awk '$1=="kafka"{print $2; exit}' "$work/out")
}

failed=0
# suite NAME COMMAND...: compares the failed cases with the known ones.
suite() {
	local name=$1; shift
	"$@" >"$work/$name.txt" 2>&1
	# A case is known by the text behind FAIL up to two spaces or the end.
	grep '^FAIL' "$work/$name.txt" | sed -E 's/^FAIL +(T[0-9] )?//; s/  .*//; s/ +$//' | sort -u >"$work/failed"
	sed -n "s/^$name | //p" "$here/conformance-known.txt" | sed 's/ | .*//' | sort -u >"$work/known"
	printf '%-22s %s, %s known to fail\n' "$name" "$(grep -E '^[0-9]+ passed' "$work/$name.txt" | tail -n 1)" "$(wc -l <"$work/known")"
	grep -qE '^[0-9]+ passed' "$work/$name.txt" || { tail -n 5 "$work/$name.txt"; failed=1; }
	if ! new=$(comm -23 "$work/failed" "$work/known") || [ -n "$new" ]; then
		echo "  not known to fail:"; sed 's/^/    /' <<<"$new"; failed=1
		while read -r line; do grep -F -A4 "$line" "$work/$name.txt" | head -n 6; done <<<"$new" | head -n 120
	fi
	if gone=$(comm -13 "$work/failed" "$work/known") && [ -n "$gone" ]; then
		echo "  named in conformance-known.txt, but passes:"; sed 's/^/    /' <<<"$gone"; failed=1
	fi
}

start
suite rest "$cache/runner" --url "$url" "$shared/conformance/cases"
start
for f in avro json protobuf; do
	suite "evolution-$f" "$cache/evolution" --url "$url" --differences "$shared/corpus/evolution/$f.jsonl"
done
start
for f in avro json protobuf lookup; do
	suite "canonical-$f" "$cache/canonical" --url "$url" "$shared/corpus/canonical/$f.jsonl"
done
start
suite kafka "$cache/kafka" --bootstrap "$kafka" --tier 1
[ $failed = 0 ] || cp -r "$work" "${OUT:-/tmp/milena-conformance-failed}" 2>/dev/null
exit $failed
