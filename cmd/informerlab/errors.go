package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/reflector"
)

// usageError is a command line that cannot be right, whatever the cluster says.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// flagError says what is wrong with a flag in the words of the command line, not
// in those of the parsers below it.
func flagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &usageError{err}
	}
	want := "a " + bad.GetFlag().Value.Type()
	switch bad.GetFlag().Value.Type() {
	case "int":
		want = "a whole number"
	case "duration":
		want = "a time with its unit, such as 30s or 5m"
	case "bool":
		want = "true or false"
	}
	return usagef("--%s %q: want %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// oneLine says what failed in one line (L2).
func oneLine(err error) string {
	if parts := joined(err); len(parts) > 1 {
		var texts []string
		for _, part := range parts {
			texts = append(texts, oneLine(part))
		}
		return strings.Join(texts, "; ")
	}
	text := err.Error()
	if plain := plainly(err); plain != "" {
		text = plain
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// plainly puts the errors of the network into words; "" for others.
func plainly(err error) string {
	where := "the API server"
	if e, ok := errors.AsType[*hostError](err); ok {
		where += " at " + e.host
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		if parsed, parseErr := url.Parse(u.URL); parseErr == nil && parsed.Host != "" {
			where += " at " + parsed.Host
		}
	}
	if !unreachable(err) {
		return ""
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Sprintf("can't trust %s: %v; is certificate-authority in the kubeconfig the server's?", where, e.Err)
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf("can't talk TLS with %s: %s; should its address begin with http:// instead?", where, e.Msg)
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("can't find %s: %s: %s", where, e.Name, e.Err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Sprintf("can't reach %s: %v; is it running, and is its address right?", where, e.Err)
	}
	return ""
}

// hostError adds which server an error is about.
type hostError struct {
	host string
	err  error
}

func (e *hostError) Error() string { return e.err.Error() }
func (e *hostError) Unwrap() error { return e.err }

// unreachable reports whether no server could be talked to at all. A connection
// that broke later is another matter.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// refused reports whether the server has answered that the request will not do,
// now or later: no rights, no such resource, a selector that it doesn't know.
func refused(err error) bool {
	code := statusCode(err)
	return code >= 400 && code < 500 && code != 408 && code != 409 && code != 410 && code != 429
}

func statusCode(err error) int {
	if e, ok := errors.AsType[*reflector.Error](err); ok && e.Code != 0 {
		return e.Code
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// reasonWord is an error's kind in one word, for programs.
func reasonWord(err error) string {
	if unreachable(err) {
		return "Unreachable"
	}
	if reason := apierrors.ReasonForError(err); reason != "" {
		return string(reason)
	}
	if _, ok := errors.AsType[*reflector.DecodeError](err); ok {
		return "Undecodable"
	}
	if _, ok := errors.AsType[*reflector.VersionError](err); ok {
		return "NoResourceVersion"
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return "Network"
	}
	if code := statusCode(err); code != 0 {
		return fmt.Sprintf("HTTP%d", code)
	}
	return "Unknown"
}
