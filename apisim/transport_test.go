package apisim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// open sends a GET and returns the body unread.
func open(ctx context.Context, s *Server, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://apisim.invalid"+url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.RoundTripper().RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

func roundTrip(t *testing.T, h http.HandlerFunc, req *http.Request) (*http.Response, error) {
	t.Helper()
	return memTransport{h}.RoundTrip(req)
}

func newRequest(t *testing.T, ctx context.Context, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h/path?q=1", body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestTransportCarriesRequestAndAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := bytes.Repeat([]byte("0123456789"), 100_000)
		resp, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Seen", r.Method+" "+r.RequestURI+" "+r.Host+" "+string(b))
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK) // too late
			w.Header().Set("X-Late", "1")
			if _, err := w.Write(big); err != nil {
				t.Error(err)
			}
		}, newRequest(t, t.Context(), strings.NewReader("body")))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Seen") != "POST /path?q=1 h body" || resp.Header.Get("X-Late") != "" {
			t.Errorf("got %v %v", resp.Status, resp.Header)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(got, big) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after the end: %d, %v", n, err)
		}
	})
}

func TestTransportAnswersWithoutBody(t *testing.T) {
	resp, err := roundTrip(t, func(http.ResponseWriter, *http.Request) {}, newRequest(t, t.Context(), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); resp.StatusCode != 200 || len(b) != 0 || err != nil {
		t.Errorf("%v %q %v", resp.Status, b, err)
	}
}

// A handler that aborts breaks the connection: before the headers the request
// fails, after them the body does, behind what was flushed.
func TestTransportAbort(t *testing.T) {
	abort := func(flush bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if flush {
				_, _ = w.Write([]byte("seen"))
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = w.Write([]byte("lost"))
			panic(http.ErrAbortHandler)
		}
	}
	if resp, err := roundTrip(t, abort(false), newRequest(t, t.Context(), nil)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("before the headers: %v %v", resp, err)
	}
	resp, err := roundTrip(t, abort(true), newRequest(t, t.Context(), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); string(b) != "seen" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after the headers: %q %v", b, err)
	}
}

// Cancelling the request ends both sides, wherever they wait.
func TestTransportCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := make(chan error, 1)
		start := time.Now()
		_, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			_, err := w.Write([]byte("x"))
			ended <- err
		}, newRequest(t, ctx, nil))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("before the headers: %v after %v", err, time.Since(start))
		}
		if err := <-ended; err == nil {
			t.Error("the handler could write to nobody")
		}

		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		resp, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(make([]byte, memChunk)); err != nil {
					ended <- err
					return
				}
			}
		}, newRequest(t, ctx, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(2 * time.Second)
		if err := <-ended; err == nil {
			t.Error("the handler could write to nobody")
		}
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the body reads %v", err)
		}
	})
}

// Back-pressure: a handler cannot run ahead by more than the pipe holds.
func TestTransportIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		resp, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
			for range 100 {
				if _, err := w.Write(make([]byte, memChunk)); err != nil {
					return
				}
				written++
			}
		}, newRequest(t, t.Context(), nil))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if written != memChunks {
			t.Errorf("wrote %d chunks to nobody, want %d", written, memChunks)
		}
		if b, err := io.ReadAll(resp.Body); len(b) != 100*memChunk || err != nil {
			t.Errorf("read %d, %v", len(b), err)
		}
		resp.Body.Close()
	})
}
