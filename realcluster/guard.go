package realcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// guardScript runs one server as its child and ends it when the process that
// started the script is gone.
//
// envtest puts each server into a process group of its own. A test binary that
// is killed, times out or gets Ctrl-C has no chance to stop them, so something
// outside of it must. envtest signals the whole group, hence the script only has
// to outlive its child: a trap instead of the default action does that.
const guardScript = `#!/bin/sh
parent=$PPID
%[1]s "$@" &
child=$!
echo "$child" >%[3]s
trap : TERM INT HUP
(
	while kill -0 "$parent"; do sleep 1; done
	kill -TERM "$child"
	sleep 10
	kill -KILL "$child"
) >/dev/null 2>&1 &
watcher=$!
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do # a signal ended the wait
	wait "$child"
	code=$?
done
kill -0 "$parent" 2>/dev/null || rm -rf %[2]s
kill "$watcher" 2>/dev/null
exit "$code"
`

// writeGuard puts a guard for bin into dir under the same name and returns its
// path. When the guard finds its parent gone it removes dir.
func writeGuard(dir, bin string) (string, error) {
	path := filepath.Join(dir, filepath.Base(bin))
	text := fmt.Sprintf(guardScript, shellQuote(bin), shellQuote(dir), shellQuote(pidFile(dir, bin)))
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		return "", fmt.Errorf("write the script that guards %s: %w", filepath.Base(bin), err)
	}
	return path, nil
}

// pidFile is where the guard of bin writes the process id of its child.
func pidFile(dir, bin string) string { return filepath.Join(dir, filepath.Base(bin)+".pid") }

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
