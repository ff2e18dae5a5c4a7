package object

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// CompareVersions orders two resourceVersions of one resource: -1, 0 or 1.
//
// Since Kubernetes 1.35 (KEP-5504) a resourceVersion is a decimal number
// without leading zeros. Anything else, "" and "0" included, is a
// [*VersionError]: aggregated API servers may use other forms, and for those
// equality is all that can be asked.
func CompareVersions(a, b string) (int, error) {
	c, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0, &VersionError{A: a, B: b, Err: err}
	}
	return c, nil
}

// Newer reports whether resourceVersion a is known to be newer than b. What
// can't be ordered isn't known to be newer.
func Newer(a, b string) bool {
	c, err := CompareVersions(a, b)
	return err == nil && c > 0
}

// UsableVersion reports whether a resourceVersion names a point in history
// that a watch can start from: not empty, and not "0".
func UsableVersion(rv string) bool { return rv != "" && rv != "0" }

// VersionError says that two resourceVersions can't be ordered.
type VersionError struct {
	A, B string
	Err  error
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("can't order resourceVersions %q and %q: %v", e.A, e.B, e.Err)
}

func (e *VersionError) Unwrap() error { return e.Err }
