package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// dumpedEntry is one object of --dump and of an answer.
type dumpedEntry struct {
	Key             string `json:"key"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

func entryOf[T metav1.Object](item object.Item[T]) dumpedEntry {
	return dumpedEntry{Key: item.Key.String(), UID: string(item.UID), ResourceVersion: item.ResourceVersion}
}

// checkDump finds out in time whether the file can be written, and leaves an
// empty cache in it: what was there before must not pass for this run's.
func checkDump(file string) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe or device; opening it may wait for a reader
	}
	if err := os.WriteFile(file, []byte("[]\n"), 0o644); err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	return nil
}

func writeDump[T metav1.Object](file string, snapshot *indexer.Snapshot[T]) error {
	entries := make([]dumpedEntry, 0, snapshot.Len())
	for item := range snapshot.Items() {
		entries = append(entries, entryOf(*item))
	}
	slices.SortFunc(entries, func(a, b dumpedEntry) int { return strings.Compare(a.Key, b.Key) })
	raw, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	return nil
}
