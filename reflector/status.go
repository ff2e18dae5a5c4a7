package reflector

import (
	"cmp"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxStatus caps what is read of an answer that is an error.
const maxStatus = 1 << 20

// statusFailure is the error that a Status stands for. A Status that calls
// itself a success is no answer to a list or watch, and so a failure too.
func statusFailure(st metav1.Status) error {
	st.Code = cmp.Or(st.Code, http.StatusInternalServerError)
	st.Message = cmp.Or(st.Message, "the server sent a Status without a message")
	return &apierrors.StatusError{ErrStatus: st}
}

// readError reads an answer that isn't 200. Servers, and proxies between, send
// a Status in either encoding, a Status that lacks its kind, or plain text.
func readError(resp *http.Response, body io.Reader, op string, resource schema.GroupResource) error {
	wait := retryAfter(resp.Header.Get("Retry-After"))
	raw, _ := io.ReadAll(io.LimitReader(body, maxStatus)) // a cut body still tells something
	st, ok := parseStatus(raw)
	if !ok {
		text := strings.ToValidUTF8(string(raw[:min(len(raw), 2048)]), "")
		return apierrors.NewGenericServerResponse(resp.StatusCode, op, resource, "", cmp.Or(text, resp.Status), int(wait/time.Second), true)
	}
	st.Code = int32(resp.StatusCode) // the header is what proxies go by
	if wait > 0 {
		if st.Details == nil {
			st.Details = &metav1.StatusDetails{}
		}
		st.Details.RetryAfterSeconds = int32(wait / time.Second)
	}
	return statusFailure(st)
}

// parseStatus reads a Status in either encoding.
func parseStatus(raw []byte) (st metav1.Status, ok bool) {
	if obj, kind, err := openEnvelope(raw); err == nil {
		return st, kind.Kind == "Status" && st.Unmarshal(obj) == nil
	}
	if err := json.Unmarshal(raw, &st, jsonObjects); err != nil {
		return st, false
	}
	return st, st.Kind == "Status" || (st.Kind == "" && st.Status == metav1.StatusFailure)
}

// frameStatus is the error that an ERROR frame stands for.
func frameStatus(raw []byte) error {
	st, ok := parseStatus(raw)
	if !ok {
		return &DecodeError{What: "an ERROR event", Err: errors.New("its object isn't a Status")}
	}
	return statusFailure(st)
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(time.Until(at), 0), math.MaxInt32*time.Second) // what a Status can say
	}
	return 0
}
