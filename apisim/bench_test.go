package apisim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
)

// What the server costs, since it shares the machine with what is measured.

func filled(b *testing.B, n int) *Server {
	b.Helper()
	s := New()
	if err := s.Fill(n); err != nil {
		b.Fatal(err)
	}
	return s
}

// drain reads an answer without keeping it.
func drain(b *testing.B, s *Server, ctx context.Context, url, accept string) int64 {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://apisim.invalid"+url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := s.RoundTripper().RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil && ctx.Err() == nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkList lists 10,000 pods whose encodings exist.
func BenchmarkList(b *testing.B) {
	s := filled(b, 10_000)
	for _, accept := range []string{jsonMedia, protoMedia} {
		b.Run("accept="+accept, func(b *testing.B) {
			drain(b, s, b.Context(), "/api/v1/pods", accept)
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(drain(b, s, b.Context(), "/api/v1/pods", accept))
			}
		})
	}
}

// BenchmarkEncode makes an encoding for the first time.
func BenchmarkEncode(b *testing.B) {
	res := Pods()
	for name, enc := range map[string]encoding{"json": encJSON, "protobuf": encProto} {
		b.Run(name, func(b *testing.B) {
			pod := RealisticPod(1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (&body{res: &res, obj: pod}).encode(enc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate changes one of 1,000 pods, by the direct verb.
func BenchmarkUpdate(b *testing.B) {
	s := filled(b, 1000)
	p := RealisticPod(7)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		p.Labels["i"] = fmt.Sprint(i)
		if _, err := s.Update(Pods().GVR, p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWatchEvent is a write that 1, 10 or 100 watchers read while it goes
// on; the benchmark ends when all have read all.
func BenchmarkWatchEvent(b *testing.B) {
	for _, watchers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("watchers=", watchers), func(b *testing.B) {
			s := filled(b, 100)
			from := s.ResourceVersion()
			p := RealisticPod(7)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				p.Labels["i"] = fmt.Sprint(n)
				if _, err := s.Update(Pods().GVR, p); err != nil {
					b.Fatal(err)
				}
				if n%1000 == 0 { // inside the history
					readAll(b, s, from, watchers)
					from = s.ResourceVersion()
				}
			}
			readAll(b, s, from, watchers)
		})
	}
}

// readAll lets so many watchers read all changes since the RV.
func readAll(b *testing.B, s *Server, from string, watchers int) {
	var wg sync.WaitGroup
	for range watchers {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://apisim.invalid/api/v1/pods?watch=1&resourceVersion="+from, nil)
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("Accept", protoMedia)
			resp, err := s.RoundTripper().RoundTrip(req)
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			last := []byte(s.ResourceVersion())
			buf := make([]byte, 64<<10)
			for {
				n, err := resp.Body.Read(buf)
				if err != nil || bytes.Contains(buf[:n], last) {
					return
				}
			}
		})
	}
	wg.Wait()
}
