package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Index is what index.json holds: where the recording is from, and its exchanges
// without their bodies.
type Index struct {
	// Server is the version that the API server gives itself.
	Server    string     `json:"server"`
	Exchanges []Exchange `json:"exchanges"`
}

const indexFile = "index.json"

// Write replaces the recording in dir. Of what is there it removes only the files
// that the old index names.
func Write(dir string, ix Index) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	old, err := readIndex(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace the recording: %w; remove the folder to start anew", err)
	}
	for _, e := range old.Exchanges {
		if err := os.Remove(filepath.Join(dir, filepath.Base(e.File))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the old recording: %w", err)
		}
	}
	var index bytes.Buffer
	enc := json.NewEncoder(&index)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(ix); err != nil {
		return fmt.Errorf("write %s: %w", indexFile, err)
	}
	files := map[string][]byte{indexFile: index.Bytes(), "README.md": readme(ix)}
	for _, e := range ix.Exchanges {
		files[e.File] = e.Body
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write the recording: %w", err)
		}
	}
	return nil
}

// Read returns the recording in dir, with bodies.
func Read(dir string) (Index, error) {
	ix, err := readIndex(dir)
	if err != nil {
		return Index{}, fmt.Errorf("read the recording: %w", err)
	}
	for i := range ix.Exchanges {
		e := &ix.Exchanges[i]
		if e.Body, err = os.ReadFile(filepath.Join(dir, filepath.Base(e.File))); err != nil {
			return Index{}, fmt.Errorf("read the recording: %w", err)
		}
	}
	return ix, nil
}

func readIndex(dir string) (Index, error) {
	var ix Index
	data, err := os.ReadFile(filepath.Join(dir, indexFile))
	if err != nil {
		return ix, err
	}
	if err := json.Unmarshal(data, &ix); err != nil {
		return ix, fmt.Errorf("parse %s: %w", filepath.Join(dir, indexFile), err)
	}
	return ix, nil
}

// readme explains the recording to a person; index.json has the rest.
func readme(ix Index) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What a real API server sends

Recorded from kube-apiserver %s. Made by `+"`go run ./record`"+` in the realcluster
module; do not edit. A test there compares the recording with a live server.

Each file is the body of one answer, byte for byte as it came off the connection.
`+"`index.json`"+` has the request, status and headers of each.

| ending | body |
|---|---|
| `+"`.json`"+` | JSON |
| `+"`.pb`"+` | protobuf in the `+"`k8s\\0`"+` envelope |
| `+"`.frames.json`"+` | watch events, a JSON object on each line |
| `+"`.frames.pb`"+` | watch events: 4 bytes big-endian length, then a WatchEvent message, whose object is in the envelope |
| `+"`.txt`"+` | plain text, or nothing |
| `+"`.gz` after it"+` | compressed; a watch has a gzip member for each flush |

The pods were written as a controller and a kubelet would: two containers,
environment, volumes, conditions, managed fields. Nothing runs. The
token in the 401 is made up.

| file | bytes | status | shows | request |
|---|---|---|---|---|
`, ix.Server)
	for _, e := range ix.Exchanges {
		path := e.Request.Path
		if at := strings.Index(path, "continue="); at >= 0 {
			path = path[:at] + "continue=…"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | `%s` |\n", e.File, len(e.Body), e.Response.Status, e.About, path)
	}
	return b.Bytes()
}
