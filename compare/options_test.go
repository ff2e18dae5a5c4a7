package compare

import (
	"errors"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	if err := (Options{}).WithDefaults().Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	for _, tt := range []struct {
		why    string
		set    func(*Options)
		option string
	}{
		{"no subject", func(o *Options) { o.Subjects = nil }, "subjects"},
		{"unknown subject", func(o *Options) { o.Subjects = []string{"theirs"} }, "subjects"},
		{"a subject twice", func(o *Options) { o.Subjects = []string{"ours", "ours"} }, "subjects"},
		{"no objects", func(o *Options) { o.Objects = 0 }, "objects"},
		{"too many objects", func(o *Options) { o.Objects = MaxObjects + 1 }, "objects"},
		{"no writes", func(o *Options) { o.Rate = 0 }, "rate"},
		{"too fast", func(o *Options) { o.Rate = MaxRate + 1 }, "rate"},
		{"too short", func(o *Options) { o.Duration = time.Millisecond }, "duration"},
		{"too long", func(o *Options) { o.Duration = 2 * time.Hour }, "duration"},
		{"too many writes in all", func(o *Options) { o.Rate, o.Duration = MaxRate, time.Minute }, "duration"},
		{"unknown encoding", func(o *Options) { o.Encoding = "yaml" }, "encoding"},
		{"a busy loop is no polling", func(o *Options) { o.PollInterval = time.Millisecond }, "poll-interval"},
		{"negative timeout", func(o *Options) { o.SettleTimeout = -1 }, "timeout"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			o := Options{}.WithDefaults()
			tt.set(&o)
			err := o.Validate()
			if e := (*OptionError)(nil); !errors.As(err, &e) || e.Option != tt.option {
				t.Fatalf("err = %v; want an OptionError for %s", err, tt.option)
			}
		})
	}
}
