package compare

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Result is what a run has found.
type Result struct {
	Config      Config          `json:"config"`
	Environment Environment     `json:"environment"`
	Subjects    []SubjectResult `json:"subjects"`
	// Notes are what a reader of the figures must know.
	Notes []string `json:"notes,omitempty"`
}

// Config is what was run.
type Config struct {
	Server              string   `json:"server"` // "simulated" or "cluster"
	Objects             int      `json:"objects"`
	WritesPerSecond     int      `json:"writesPerSecond"`
	Writes              int      `json:"writes"` // for each subject
	DurationSeconds     float64  `json:"durationSeconds"`
	PollIntervalSeconds float64  `json:"pollIntervalSeconds"`
	Encoding            Encoding `json:"encoding"`
	Seed                uint64   `json:"seed"`
}

// Environment is what it was run on.
type Environment struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	CPUs     int               `json:"cpus"`
	Go       string            `json:"go"`
	Versions map[string]string `json:"versions"` // of the Kubernetes modules
}

// SubjectResult is what one subject cost and lost. A nil figure is unknown: the
// operating system does not give it or, for staleness, there is no sample.
type SubjectResult struct {
	Name           string   `json:"name"`
	Requests       int64    `json:"requests"`
	BytesReceived  int64    `json:"bytesReceived"`
	CPUSeconds     *float64 `json:"cpuSeconds"`
	PeakRSSBytes   *int64   `json:"peakRSSBytes"`
	StalenessP50Ms *float64 `json:"stalenessP50Ms"`
	StalenessP99Ms *float64 `json:"stalenessP99Ms"`
	MissedStates   int      `json:"missedStates"`
	Converged      bool     `json:"converged"`

	difference string // why not converged, and after how long
	waited     time.Duration
}

// NotConvergedError says whose final cache was not the server's.
type NotConvergedError struct {
	Subject    string
	Waited     time.Duration
	Difference string
}

func (e *NotConvergedError) Error() string {
	return fmt.Sprintf("%s did not converge: %v after the last write its cache is not what the server holds: %s", e.Subject, e.Waited, e.Difference)
}

func subjectResult(name string, m measurement, log churned, server []Version) SubjectResult {
	v := judge(log.Writes, m.Told)
	r := SubjectResult{
		Name:           name,
		Requests:       m.Requests,
		BytesReceived:  m.BytesReceived,
		PeakRSSBytes:   m.PeakRSS,
		StalenessP50Ms: milliseconds(v.percentile(50)),
		StalenessP99Ms: milliseconds(v.percentile(99)),
		MissedStates:   v.missed,
		Converged:      m.Converged,
	}
	if m.CPU != nil {
		seconds := m.CPU.Seconds()
		r.CPUSeconds = &seconds
	}
	if !m.Converged {
		r.difference = difference(server, m.Cache)
	}
	return r
}

func milliseconds(d time.Duration, known bool) *float64 {
	if !known {
		return nil
	}
	ms := float64(d) / float64(time.Millisecond)
	return &ms
}

func environment() Environment {
	env := Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Versions: map[string]string{},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return env
	}
	for _, dep := range info.Deps {
		if strings.HasPrefix(dep.Path, "k8s.io/") && (strings.HasSuffix(dep.Path, "/client-go") || strings.HasSuffix(dep.Path, "/apimachinery")) {
			env.Versions[dep.Path] = dep.Version
		}
	}
	return env
}
