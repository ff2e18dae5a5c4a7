package compare

import (
	"informer.example/compare/internal/child"
)

// ChildArgument makes a program that calls [ChildMain] a child of [Run].
const ChildArgument = "compare-child"

// ChildMain is the main function of a child process of [Run]: a server or a
// subject, as it is told on its standard input. A program that calls Run calls
// it, and nothing else, when its only argument is [ChildArgument]. It returns
// the exit code.
func ChildMain() int {
	var mux child.Mux
	(&serverChild{}).register(&mux)
	(&subjectChild{}).register(&mux)
	return child.Run(&mux)
}

// The methods of a child.
const (
	methodFill   = "fill"
	methodChurn  = "churn"
	methodState  = "state"
	methodStart  = "start"
	methodSettle = "settle"
)

// none stands where a method takes or returns nothing.
type none struct{}
