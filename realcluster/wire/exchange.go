package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Exchange is one request and its answer.
type Exchange struct {
	// Name is unique in a recording. File is Name with an ending that tells the
	// format of the body: .json, .pb, .txt; .frames before it for a stream of watch
	// frames; .gz after it if the body is compressed.
	Name string `json:"name"`
	File string `json:"file"`
	// About says what the exchange shows.
	About    string   `json:"about"`
	Request  Request  `json:"request"`
	Response Response `json:"response"`

	// Body is the answer's body as it came off the connection.
	Body []byte `json:"-"`
}

// Request is what was sent. All requests are GETs without a body.
type Request struct {
	// Path includes the query.
	Path   string      `json:"path"`
	Header http.Header `json:"header"`
}

// Response is what came back, without the body.
type Response struct {
	Status int         `json:"status"`
	Proto  string      `json:"proto"`
	Header http.Header `json:"header"`
}

// Media types that the server is asked for.
const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// bodyLimit bounds what is read of one answer; the largest recorded is 0.3 MB.
const bodyLimit = 16 << 20

// call is a request to be made and what to record it as.
type call struct {
	name, about, path string
	accept            string
	gzip              bool
	authorization     string
	// started is closed when the call's answer has come as far as until says; a call
	// without until is started when the headers have come. Nil: nobody waits.
	started chan<- struct{}
	until   string
}

// recorder makes calls as one user.
type recorder struct {
	client *http.Client
	base   string
}

func newRecorder(config *rest.Config) (*recorder, error) {
	config = rest.CopyConfig(config)
	// Otherwise the transport asks for gzip and unpacks it behind our back.
	config.DisableCompression = true
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make an HTTP client for recording: %w", err)
	}
	return &recorder{client: client, base: strings.TrimSuffix(config.Host, "/")}, nil
}

// do makes the call and reads its answer to the end.
func (r *recorder) do(ctx context.Context, c call) (Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+c.path, nil)
	if err != nil {
		return Exchange{}, fmt.Errorf("record %s: %w", c.name, err)
	}
	req.Header.Set("Accept", c.accept)
	req.Header.Set("User-Agent", "informer-recorder")
	if c.gzip {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if c.authorization != "" {
		req.Header.Set("Authorization", c.authorization)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return Exchange{}, fmt.Errorf("record %s: %w", c.name, err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp, c)
	if err != nil {
		return Exchange{}, fmt.Errorf("record %s: read the body of status %d: %w", c.name, resp.StatusCode, err)
	}
	return Exchange{
		Name:     c.name,
		File:     c.name + ending(resp.Header, strings.Contains(c.path, "watch=true") && resp.StatusCode == http.StatusOK),
		About:    c.about,
		Request:  Request{Path: c.path, Header: req.Header},
		Response: Response{Status: resp.StatusCode, Proto: resp.Proto, Header: resp.Header},
		Body:     body,
	}, nil
}

// readBody returns the raw body, and looks for c.until in what it says meanwhile.
func readBody(resp *http.Response, c call) ([]byte, error) {
	var raw bytes.Buffer
	// An error status ends the wait too: the caller must not hang.
	signal := func() {
		if c.started != nil {
			close(c.started)
			c.started = nil
		}
	}
	defer signal()
	if c.until == "" || resp.StatusCode != http.StatusOK {
		signal()
	}
	var plain io.Reader = io.TeeReader(io.LimitReader(resp.Body, bodyLimit), &raw)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(plain)
		if err != nil {
			return nil, err
		}
		plain = z
	}
	var seen bytes.Buffer
	buf := make([]byte, 32<<10)
	for {
		n, err := plain.Read(buf)
		seen.Write(buf[:n])
		if c.started != nil && bytes.Contains(seen.Bytes(), []byte(c.until)) {
			signal()
		}
		if err == io.EOF {
			return raw.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ending returns a file's ending for an answer's format.
func ending(h http.Header, stream bool) string {
	end := ".txt"
	switch ct := h.Get("Content-Type"); {
	case strings.HasPrefix(ct, mediaJSON):
		end = ".json"
	case strings.HasPrefix(ct, mediaProtobuf):
		end = ".pb"
	}
	if stream {
		end = ".frames" + end
	}
	if h.Get("Content-Encoding") == "gzip" {
		end += ".gz"
	}
	return end
}
