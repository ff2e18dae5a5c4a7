package layout

// Rule says what the packages below one folder may import of this module, and
// of the modules that are kept at the edges.
type Rule struct {
	// Folder is a path below the module's root. The longest match counts.
	Folder string
	// Own lists the folders of this module that it may import; "*" is all.
	Own []string
	// OwnInTests lists what its tests may import besides.
	OwnInTests []string
	// ClientGo lists the packages of client-go that it may import, as paths
	// below k8s.io/client-go; "*" is all.
	ClientGo []string
	// Why is shown when the rule is broken.
	Why string
}

// Rules returns the rules of this module.
func Rules() []Rule {
	return []Rule{
		{Folder: "object",
			Why: "object is the ground and stands on apimachinery alone"},
		{Folder: "indexer", Own: []string{"object"},
			Why: "the store doesn't know where objects come from or who is told of them"},
		{Folder: "deltafifo", Own: []string{"object"},
			Why: "the queue knows neither the wire nor the store"},
		{Folder: "reflector", Own: []string{"object"}, OwnInTests: []string{"apisim", "informer"}, ClientGo: []string{"rest"},
			Why: "the reflector writes to a Sink of its own and doesn't know what is behind it"},
		{Folder: "informer", Own: []string{"object", "indexer", "deltafifo", "reflector"}, OwnInTests: []string{"apisim"}, ClientGo: []string{"rest"},
			Why: "the informer joins the four, and nothing else"},
		{Folder: "informer/metrics", Own: []string{"object", "reflector", "informer"},
			Why: "the metrics read Status, from outside"},
		{Folder: "naive", Own: []string{"object", "reflector", "informer"}, OwnInTests: []string{"apisim"}, ClientGo: []string{"rest"},
			Why: "naive uses the reflector's source and the informer's handler types"},
		{Folder: "apisim", ClientGo: []string{"rest"},
			Why: "a server that shared code with its clients would share their mistakes"},
		{Folder: "apisim/apitest", OwnInTests: []string{"apisim"}, ClientGo: []string{"rest"},
			Why: "the suite judges servers from the outside, so it shares code with none, nor with their clients"},
		{Folder: "compare", Own: []string{"*"}, ClientGo: []string{"*"},
			Why: "compare sees everything: client-go is the peer"},
		{Folder: "cmd", Own: []string{"*"}, ClientGo: []string{"*"},
			Why: "the binary joins everything"},
		{Folder: "docs", Own: []string{"*"}, ClientGo: []string{"*"},
			Why: "the examples show ours beside client-go's clients and workqueue"},
		{Folder: "exercises", Own: []string{"*"}, ClientGo: []string{"*"},
			Why: "client-go sits the exercises as a peer"},
		{Folder: "internal/contract",
			Why: "it reads the tests' names, it doesn't run them"},
		{Folder: "internal/layout",
			Why: "the rules look at the code, they don't run it"},
	}
}
