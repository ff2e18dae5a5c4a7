package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Version is one object of a cache or of the server: what it is called and
// which state of it is meant.
type Version struct {
	Key             string `json:"key"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// sortVersions puts them in the order of their keys.
func sortVersions(versions []Version) {
	slices.SortFunc(versions, func(a, b Version) int { return strings.Compare(a.Key, b.Key) })
}

// digest is equal for equal sets of versions, in whatever order (M5). It sorts
// them.
func digest(versions []Version) string {
	sortVersions(versions)
	sum := sha256.New()
	for _, v := range versions {
		// None of the three can hold a newline.
		io.WriteString(sum, v.Key+"\n"+v.UID+"\n"+v.ResourceVersion+"\n")
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// difference says how a cache differs from the server, in one line; "" if it
// does not.
func difference(server, cache []Version) string {
	want := make(map[string]Version, len(server))
	for _, v := range server {
		want[v.Key] = v
	}
	first := ""
	missing, extra, stale := 0, 0, 0
	note := func(count *int, text string, args ...any) {
		if *count++; first == "" {
			first = fmt.Sprintf(text, args...)
		}
	}
	for _, have := range cache {
		w, ok := want[have.Key]
		delete(want, have.Key)
		switch {
		case !ok:
			note(&extra, "%s is in the cache and not on the server", have.Key)
		case w.UID != have.UID:
			note(&stale, "%s has uid %s, the server's has %s", have.Key, have.UID, w.UID)
		case w.ResourceVersion != have.ResourceVersion:
			note(&stale, "%s is at resourceVersion %s, on the server at %s", have.Key, have.ResourceVersion, w.ResourceVersion)
		}
	}
	for _, w := range server {
		if _, absent := want[w.Key]; absent {
			note(&missing, "%s is on the server and not in the cache", w.Key)
		}
	}
	if first == "" {
		return ""
	}
	return fmt.Sprintf("of %d objects %d are missing, %d out of date and %d too many; first: %s", len(server), missing, stale, extra, first)
}
