package apisim

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/sharding"
)

// Caps on a shard selector, which the real server leaves to its URL limit.
const (
	maxShardSelector = 16 << 10
	maxShardDepth    = 32
)

// parseShardSelector reads the shardSelector parameter:
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)
//
// The real server parses it as a CEL expression and allows nothing else in it;
// parentheses, both quotes and white space come with that. One field for all
// ranges: object.metadata.uid or object.metadata.namespace.
func parseShardSelector(expr string) (sharding.Selector, error) {
	if len(expr) > maxShardSelector {
		return nil, fmt.Errorf("invalid shard selector: longer than %d bytes", maxShardSelector)
	}
	p := shardParser{rest: expr}
	if p.space(); p.rest == "" {
		return nil, errors.New("invalid shard selector: empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	err := p.either(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %.20q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("invalid shard selector: %w", err)
	}
	for _, r := range p.ranges[1:] {
		if r.Key != p.ranges[0].Key {
			return nil, fmt.Errorf("invalid shard selector: all shard ranges must use the same field, got %q and %q", r.Key, p.ranges[0].Key)
		}
	}
	return sharding.NewSelector(p.ranges...), nil
}

// shardParser holds what is left of the expression; each method takes its part
// and the white space behind it.
type shardParser struct {
	rest   string
	ranges []sharding.ShardRangeRequirement
}

func (p *shardParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\f") }

func (p *shardParser) take(token string) bool {
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
		p.space()
	}
	return ok
}

func (p *shardParser) want(token string) error {
	if p.take(token) {
		return nil
	}
	return fmt.Errorf("expected %q before %.20q", token, p.rest)
}

// either reads ranges joined by ||.
func (p *shardParser) either(depth int) error {
	for {
		if err := p.term(depth); err != nil {
			return err
		}
		if !p.take("||") {
			return nil
		}
	}
}

func (p *shardParser) term(depth int) error {
	if p.take("(") {
		if depth == maxShardDepth {
			return fmt.Errorf("parentheses nested deeper than %d", maxShardDepth)
		}
		if err := p.either(depth + 1); err != nil {
			return err
		}
		return p.want(")")
	}
	if !p.take("shardRange") {
		return fmt.Errorf("unsupported %.20q; only shardRange() and || are allowed", p.rest)
	}
	if err := p.want("("); err != nil {
		return err
	}
	var r sharding.ShardRangeRequirement
	var err error
	if r.Key, err = p.field(); err != nil {
		return err
	}
	for _, bound := range []*string{&r.Start, &r.End} {
		if err := p.want(","); err != nil {
			return err
		}
		if *bound, err = p.bound(); err != nil {
			return err
		}
	}
	if err := p.want(")"); err != nil {
		return err
	}
	if !sharding.HexLess(r.Start, r.End) {
		return fmt.Errorf("shard range start %s must be less than end %s", r.Start, r.End)
	}
	p.ranges = append(p.ranges, r)
	return nil
}

func (p *shardParser) field() (string, error) {
	for _, name := range []string{"object.metadata.uid", "object.metadata.namespace"} {
		if p.take(name) {
			return name, nil
		}
	}
	return "", fmt.Errorf("unsupported field path %.40q; supported: object.metadata.uid, object.metadata.namespace", p.rest)
}

// bound reads a quoted number: 0x and exactly 16 lowercase hex digits, or 2^64.
func (p *shardParser) bound() (string, error) {
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", fmt.Errorf("a bound must be a string literal, not %.20q", p.rest)
	}
	text, rest, ok := strings.Cut(p.rest[1:], p.rest[:1])
	if !ok {
		return "", errors.New("a string literal does not end")
	}
	digits, ok := strings.CutPrefix(text, "0x")
	switch {
	case !ok:
		return "", fmt.Errorf("%.24q must have '0x' prefix", text)
	case strings.Trim(digits, "0123456789abcdef") != "":
		return "", fmt.Errorf("invalid hex character in %.24q", text)
	case len(digits) != 16 && text != "0x10000000000000000":
		return "", fmt.Errorf("must be a 0x-prefixed 16-digit hex value, got %.24q", text)
	}
	p.rest = rest
	p.space()
	return text, nil
}
