// Package contract keeps docs/contract.md true: the table of what servers do, what
// can go wrong and what a client must keep, with the tests of each.
//
//	docs/contract.md ── rows ──┐
//	                           ├── equal? ── ok
//	names of tests ─── scan ───┘
//
// A test is found by its name: TestF23_ListCutInsideItem, a subtest
// "F23_ListCutInsideItem", a scenario F23_….txtar, a clause of apisim/apitest. A name may begin
// with several ids. The last column of the table is written by
//
//	go test ./internal/contract -update
package contract
