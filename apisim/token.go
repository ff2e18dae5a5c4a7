package apisim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// continueToken is the state of a paged list between two pages. Clients must
// treat it as opaque; its form is the real server's, so that a token looks the
// same in a trace.
type continueToken struct {
	Version string `json:"v"`
	// RV is the RV of the first page. -1 stands for "the newest state": such a
	// token is handed out with 410 and continues an inconsistent list.
	RV    int64  `json:"rv"`
	Start string `json:"start"` // first key, relative to the request's namespace
}

const (
	tokenVersion = "meta.k8s.io/v1"
	newestRV     = -1
	// maxToken bounds what is decoded: two names of 253 bytes, with room.
	maxToken = 4 << 10
)

// tokenAfter continues behind the key.
func tokenAfter(key, namespace string, rv int64) continueToken {
	if namespace != "" {
		key = strings.TrimPrefix(key, namespace+"/")
	}
	return continueToken{Version: tokenVersion, RV: rv, Start: key + "\x00"}
}

func (t continueToken) encode() string {
	// Strings and an integer: this cannot fail.
	b, _ := json.Marshal(t)
	return base64.RawURLEncoding.EncodeToString(b)
}

// startKey is the first storage key of the page.
func (t continueToken) startKey(namespace string) string { return objectKey(namespace, t.Start) }

func decodeToken(s string) (continueToken, error) {
	var t continueToken
	if len(s) > maxToken {
		return t, errors.New("continue key is not valid: too long")
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return t, fmt.Errorf("continue key is not valid: %w", err)
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("continue key is not valid: %w", err)
	}
	switch {
	case t.Version != tokenVersion:
		return t, fmt.Errorf("continue key is not valid: unknown version %q", t.Version)
	case t.RV == 0 || t.RV < newestRV:
		return t, fmt.Errorf("continue key is not valid: resource version %d", t.RV)
	case t.Start == "":
		return t, errors.New("continue key is not valid: no start key")
	}
	return t, nil
}
