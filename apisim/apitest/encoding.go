package apitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func encodingClauses() []clause {
	return []clause{
		{id: "E1_ContentTypes", test: contentTypes},
		{id: "E1_CustomResourcesHaveNoProtobuf", test: customContentTypes, needs: []ability{customResource()}},
		{id: "E2_Frames", test: frames},
		{id: "E2_ListEnvelope", test: listEnvelope},
		{id: "E2_CustomListsHaveMetadataLast", test: customListOrder, needs: []ability{customResource()}},
		{id: "E3_MetadataOnly", test: metadataOnly},
		{id: "E3_MetadataOfCustomResources", test: customMetadata, needs: []ability{customResource()}},
		{id: "E4_LargeListsAreCompressed", test: largeLists},
		{id: "E5_WatchListsAreCompressedByFlush", test: compressedWatchLists},
		{id: "E5_PlainWatchesAreNotCompressed", test: plainWatches},
	}
}

func contentTypes(e *env) {
	from := e.put("a").ResourceVersion
	watch := e.path() + "?watch=true&timeoutSeconds=1&resourceVersion=" + from
	for _, row := range []struct {
		why, path, accept string
		code              int
		contentType       string
	}{
		{"no Accept is JSON", e.path(), "", 200, mediaJSON},
		{"JSON", e.path(), mediaJSON, 200, mediaJSON},
		{"anything is JSON", e.path(), "*/*", 200, mediaJSON},
		{"protobuf", e.path(), mediaProto, 200, mediaProto},
		{"the first that is known", e.path(), "text/html," + mediaProto + "," + mediaJSON, 200, mediaProto},
		{"nothing that is known", e.path(), "text/html", 406, ""},
		{"a watch without Accept", watch, "", 200, mediaJSON},
		{"a watch in JSON", watch, mediaJSON, 200, mediaJSON},
		{"a watch in protobuf", watch, mediaProto, 200, mediaProto + ";stream=watch"},
		{"a watch in YAML", watch, "application/yaml", 406, ""},
		{"an error in protobuf", e.path() + "/none", mediaProto, 404, mediaProto},
	} {
		var headers []string
		if row.accept != "" {
			headers = []string{"Accept", row.accept}
		}
		a := e.get(row.path, headers...)
		if a.code != row.code || row.contentType != "" && a.header.Get("Content-Type") != row.contentType {
			e.Errorf("%s: %d %s, want %d %s", row.why, a.code, a.header.Get("Content-Type"), row.code, row.contentType)
		}
	}
}

func customContentTypes(e *env) {
	r := e.custom()
	e.create(r, e.ns, "a", nil)
	if a := e.get(r.in(e.ns), "Accept", mediaProto); a.code != http.StatusNotAcceptable {
		e.Errorf("protobuf alone: %d", a.code)
	}
	for _, accept := range []string{mediaProto + "," + mediaJSON, mediaJSON, ""} {
		a := e.get(r.in(e.ns), "Accept", accept)
		if a.code != http.StatusOK || a.header.Get("Content-Type") != mediaJSON {
			e.Errorf("%q: %d %s", accept, a.code, a.header.Get("Content-Type"))
		}
	}
	if a := e.get(r.in(e.ns)+"?watch=true&timeoutSeconds=1", "Accept", mediaProto); a.code != http.StatusNotAcceptable {
		e.Errorf("a watch in protobuf: %d", a.code)
	}
}

// JSON frames are objects that end with a newline. Protobuf frames have a 4-byte
// big-endian length, a bare WatchEvent, and in it an object with its envelope.
func frames(e *env) {
	from := e.put("a").ResourceVersion
	e.label("a", "step", "2")
	e.remove("a")
	watch := e.path() + "?watch=true&timeoutSeconds=1&resourceVersion=" + from
	lines := bytes.SplitAfter(e.get(watch, "Accept", mediaJSON).body, []byte("\n"))
	if len(lines) != 3 || len(lines[2]) != 0 {
		e.Fatalf("%d lines: %q", len(lines), lines)
	}
	for i, kind := range []string{"MODIFIED", "DELETED"} {
		if !bytes.HasPrefix(lines[i], []byte(`{"type":"`+kind+`","object":{`)) {
			e.Errorf("frame %d: %.60s", i, lines[i])
		}
		o := jsonMap(e, lines[i])["object"].(map[string]any)
		if o["kind"] != "ConfigMap" || o["apiVersion"] != "v1" {
			e.Errorf("frame %d is a %v of %v", i, o["kind"], o["apiVersion"])
		}
	}
	body := bytes.NewReader(e.get(watch, "Accept", mediaProto).body)
	for i, kind := range []string{"MODIFIED", "DELETED"} {
		v, err := readFrame(body)
		if err != nil {
			e.Fatal(err)
		}
		u, err := unwrap(v.Object.Raw)
		if err != nil || v.Type != kind || u.Kind != "ConfigMap" || u.APIVersion != "v1" || u.ContentType != "" || u.ContentEncoding != "" {
			e.Errorf("protobuf frame %d: %s of %+v, %v", i, v.Type, u.TypeMeta, err)
		}
	}
	if body.Len() != 0 {
		e.Errorf("%d bytes after the last frame", body.Len())
	}
}

// protoList takes a protobuf list apart: metadata first, then the items.
func (e *env) protoList(body []byte, apiVersion, kind string) (metav1.ListMeta, [][]byte) {
	e.Helper()
	u, err := unwrap(body)
	if err != nil || u.APIVersion != apiVersion || u.Kind != kind {
		e.Fatalf("the list is a %s of %s (%v), want %s of %s", u.Kind, u.APIVersion, err, kind, apiVersion)
	}
	var l metav1.PartialObjectMetadataList // each list has its fields 1 and 2
	if err := l.Unmarshal(u.Raw); err != nil {
		e.Fatal(err)
	}
	if len(u.Raw) == 0 || u.Raw[0] != 0x0a {
		e.Errorf("the list doesn't begin with its metadata: %.8x", u.Raw)
	}
	items := make([][]byte, len(l.Items))
	for i := range l.Items {
		if items[i], err = l.Items[i].Marshal(); err != nil {
			e.Fatal(err)
		}
		if l.Items[i].Kind != "" {
			e.Errorf("item %d has the kind %q", i, l.Items[i].Kind)
		}
	}
	return l.ListMeta, items
}

func listEnvelope(e *env) {
	e.put("a")
	e.put("b")
	a := e.get(e.path(), "Accept", mediaProto).want(e, http.StatusOK)
	meta, items := e.protoList(a.body, "v1", "ConfigMapList")
	if len(items) != 2 || e.rv(meta.ResourceVersion) == 0 {
		e.Errorf("%d items at %q", len(items), meta.ResourceVersion)
	}
	if !bytes.HasSuffix(a.body, []byte{0x1a, 0, 0x22, 0}) {
		e.Errorf("the envelope ends with %x", a.body[max(0, len(a.body)-4):])
	}
	l := e.get(e.path(), "Accept", mediaJSON)
	if !bytes.HasPrefix(l.body, []byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{`)) || !bytes.HasSuffix(l.body, []byte("]}\n")) {
		e.Errorf("JSON: %.80s…", l.body)
	}
	for _, o := range l.list(e).Items {
		if o.Kind != "" || o.APIVersion != "" {
			e.Errorf("item %s has the kind %q of %q", o.Name, o.Kind, o.APIVersion)
		}
	}
}

// The list of a custom resource has its keys sorted, so its RV comes last, and
// its items say their kind.
func customListOrder(e *env) {
	r := e.custom()
	e.create(r, e.ns, "a", nil)
	a := e.get(r.in(e.ns))
	items, kind, meta := bytes.Index(a.body, []byte(`"items":[`)), bytes.LastIndex(a.body, []byte(`"kind":"`+r.kind+`List"`)), bytes.LastIndex(a.body, []byte(`"metadata":{`))
	if items < 0 || kind < items || meta < kind {
		e.Errorf("keys are at %d, %d, %d: %s", items, kind, meta, a.body)
	}
	for _, o := range a.list(e).Items {
		if o.Kind != r.kind || o.APIVersion != r.apiVersion {
			e.Errorf("item %s is a %q of %q", o.Name, o.Kind, o.APIVersion)
		}
	}
}

func metadataOnly(e *env) {
	from := e.create(configMaps(), e.ns, "a", map[string]any{"secret": "value"}, "app", "a").ResourceVersion
	a := e.get(e.path(), "Accept", mediaJSON+partials)
	l := a.list(e)
	if l.Kind != "PartialObjectMetadataList" || l.APIVersion != "meta.k8s.io/v1" || l.names() != "a" || bytes.Contains(a.body, []byte("value")) {
		e.Errorf("list: %s", a.body)
	}
	if o := l.Items[0]; o.Kind != "PartialObjectMetadata" || o.APIVersion != "meta.k8s.io/v1" || o.Labels["app"] != "a" || o.ResourceVersion != from {
		e.Errorf("item: %+v", o)
	}
	e.protoList(e.get(e.path(), "Accept", mediaProto+partials).want(e, http.StatusOK).body, "meta.k8s.io/v1", "PartialObjectMetadataList")
	for _, accept := range []string{mediaJSON, mediaProto} {
		w := e.watch(e.path(), "resourceVersion="+from, "Accept", accept+partial)
		e.label("a", "app", accept[len(accept)-4:])
		v := w.next()
		for v.object.Labels["app"] != accept[len(accept)-4:] {
			v = w.next()
		}
		if v.String() != "MODIFIED a" || bytes.Contains(v.raw, []byte("value")) || !bytes.Contains(v.raw, []byte("PartialObjectMetadata")) {
			e.Errorf("%s: %v: %q", accept, v, v.raw)
		}
	}
	// An error has no metadata form: without a plain type to fall back to, it is JSON.
	miss := e.get(e.path()+"/none", "Accept", mediaProto+partial)
	if miss.code != http.StatusNotFound || miss.header.Get("Content-Type") != mediaJSON {
		e.Errorf("an error answers %d %s", miss.code, miss.header.Get("Content-Type"))
	}
}

func customMetadata(e *env) {
	r := e.custom()
	from := e.create(r, e.ns, "a", nil).ResourceVersion
	_, items := e.protoList(e.get(r.in(e.ns), "Accept", mediaProto+partials).want(e, http.StatusOK).body, "meta.k8s.io/v1", "PartialObjectMetadataList")
	if len(items) != 1 {
		e.Errorf("%d items", len(items))
	}
	w := e.watch(r.in(e.ns), "resourceVersion="+from, "Accept", mediaProto+partial)
	e.create(r, e.ns, "b", nil)
	if v := w.next(); v.String() != "ADDED b" {
		e.Errorf("a watch shows %v", v)
	}
}

// A list is compressed if gzip is accepted and it is longer than 128 KiB.
func largeLists(e *env) {
	e.create(configMaps(), e.ns, "a", map[string]any{"text": strings.Repeat("some text ", 10<<10)})
	small := e.get(e.path(), "Accept-Encoding", "gzip")
	if got := small.header.Get("Content-Encoding"); got != "" {
		e.Errorf("a list of %d bytes has the encoding %q", len(small.body), got)
	}
	e.create(configMaps(), e.ns, "b", map[string]any{"text": strings.Repeat("more text ", 10<<10)})
	for _, accept := range []string{mediaJSON, mediaProto} {
		plain := e.get(e.path(), "Accept", accept)
		if got := plain.header.Get("Content-Encoding"); got != "" || len(plain.body) <= 128<<10 {
			e.Errorf("%s, not accepted: %d bytes, encoding %q", accept, len(plain.body), got)
		}
		packed := e.get(e.path(), "Accept", accept, "Accept-Encoding", "gzip")
		if got := packed.header.Get("Content-Encoding"); got != "gzip" || !strings.Contains(packed.header.Get("Vary"), "Accept-Encoding") {
			e.Errorf("%s, accepted: encoding %q, Vary %q", accept, got, packed.header.Get("Vary"))
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(packed.body))
		if err != nil {
			e.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || len(body) != len(plain.body) {
			e.Errorf("%s: %d bytes unpacked, %v; want %d", accept, len(body), err, len(plain.body))
		}
	}
}

// A watch that begins with the state is compressed, with one gzip member for
// each flush: a live event arrives whole, in a member of its own.
func compressedWatchLists(e *env) {
	e.put("a")
	for _, query := range []string{watchList, "allowWatchBookmarks=true"} {
		w := e.watch(e.path(), query+"&timeoutSeconds=3", "Accept-Encoding", "gzip")
		if got := w.resp.Header.Get("Content-Encoding"); got != "gzip" {
			e.Errorf("%s: encoding %q", query, got)
			continue
		}
		var members []string
		written := false
		z := new(gzip.Reader)
		body := byteReader{w.resp.Body}
		for {
			err := z.Reset(body)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				e.Fatalf("%s: after %d members: %v", query, len(members), err)
			}
			z.Multistream(false)
			text, err := io.ReadAll(z)
			if err != nil {
				e.Fatalf("%s: inside member %d: %v", query, len(members), err)
			}
			members = append(members, string(text))
			if !written && strings.Contains(string(text), metav1.InitialEventsAnnotationKey) {
				written = true
				e.label("a", "query", fmt.Sprint(len(query)))
			}
		}
		last := ""
		for _, m := range members {
			if strings.Contains(m, `"MODIFIED"`) {
				last = m
			}
		}
		if !written || len(members) < 2 || !strings.HasPrefix(last, `{"type":"MODIFIED"`) || strings.Contains(last, `"ADDED"`) {
			e.Errorf("%s: %d members: %q", query, len(members), members)
		}
	}
}

// byteReader keeps gzip from reading ahead of a member.
type byteReader struct{ r io.Reader }

func (b byteReader) Read(p []byte) (int, error) { return b.r.Read(p) }

func (b byteReader) ReadByte() (byte, error) {
	var p [1]byte
	_, err := io.ReadFull(b.r, p[:])
	return p[0], err
}

func plainWatches(e *env) {
	from := e.put("a").ResourceVersion
	for _, query := range []string{
		"resourceVersion=" + from,
		"sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=" + from,
	} {
		w := e.watch(e.path(), query, "Accept-Encoding", "gzip")
		if got := w.resp.Header.Get("Content-Encoding"); got != "" {
			e.Errorf("%s: encoding %q", query, got)
		}
	}
}
