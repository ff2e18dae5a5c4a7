// Package layout holds the rules for which package may import which, and the
// test that enforces them.
//
//	object ◄─ indexer ◄──┐
//	   ▲  ◄─ deltafifo ◄─┤
//	   └──── reflector ◄─┴─ informer ◄─ naive
//	                            ▲
//	apisim (knows none of them) │
//	                 compare, cmd, docs/examples, exercises
//
// Data flows one way, so the packages that it flows through don't know each
// other: only informer joins them. That is what lets each be read, tested and
// replaced alone.
//
// To add a package, add a line to [Rules]. A package without one fails the
// test.
package layout
