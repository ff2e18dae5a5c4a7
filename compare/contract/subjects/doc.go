// Package subjects has the implementations that the contract is held against:
// naive polling, ours on either queue, and client-go with and without
// watch-lists. Each says what it lacks and where it differs on purpose.
package subjects
