package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// draw is the source of all chance in a program.
type draw struct{ *rand.Rand }

func (r *draw) oneOf(words ...string) string { return words[r.IntN(len(words))] }

func (r *draw) percent(n int) bool { return r.IntN(100) < n }

// which fills in which requests a fault meets: the first few, one in a while, or
// all until the faults end.
func (r *draw) which(line string) string {
	which := ""
	switch r.IntN(6) {
	case 0:
		which = fmt.Sprintf("nth=%d", 1+r.IntN(3))
	case 1:
		which = fmt.Sprintf("from=2 times=%d", 1+r.IntN(3))
	case 2:
		which = "for=" + r.oneOf("1s", "10s", "1m")
	default:
		which = fmt.Sprintf("times=%d", 1+r.IntN(3))
	}
	return strings.Replace(line, " N ", " "+which+" ", 1)
}

// Generate makes the program of a seed. It is short and its objects are few: a
// seed is to be cheap, and a defect that needs many objects or many steps is rare.
func Generate(seed uint64) Program {
	r := &draw{rand.New(rand.NewPCG(seed, 0x5eed))}
	g := &generator{draw: r, program: Program{Seed: seed}, faults: wireFaults()}
	for _, f := range g.faults {
		g.faultWeight += f.weight
	}
	g.settings()
	if r.percent(50) { // before the first list, or after
		g.handlersAndIndexes()
	}
	if r.percent(30) {
		g.fault()
	}
	g.add("start")
	for range 1 + r.IntN(3) {
		for range 2 + r.IntN(9) {
			g.step()
		}
		g.add("rest")
	}
	return g.program
}

// generator is a program in the making, and what it amounts to so far.
type generator struct {
	*draw
	program     Program
	faults      []wireFault
	faultWeight int

	names    []string
	servers  int
	verify   bool
	handlers []string // present
	joined   int
	indexes  []string // present
}

// met notes a fault of the wire contract.
func (g *generator) met(id string) { g.program.Faults = append(g.program.Faults, id) }

func (g *generator) add(lines ...string) { g.program.Steps = append(g.program.Steps, lines) }

// settings draws the server and the client.
func (g *generator) settings() {
	server := func(format string, args ...any) {
		g.program.Server = append(g.program.Server, fmt.Sprintf(format, args...))
	}
	client := func(format string, args ...any) {
		g.program.Client = append(g.program.Client, fmt.Sprintf(format, args...))
	}
	objects := g.IntN(7)
	if g.percent(2) {
		objects = 150 // several nodes of a tree, several pages
	}
	server("objects %d", objects)
	g.servers = 1
	if g.percent(30) {
		g.servers = 2 + g.IntN(2)
	}
	server("servers %d", g.servers)
	if g.percent(30) {
		server("bookmarks %s", g.oneOf("2s", "15s"))
	}
	if g.percent(30) {
		server("history %d", 3+g.IntN(20))
	} else if g.percent(20) {
		server("window %d", 2+g.IntN(10))
	}
	widgets := g.percent(10)
	if widgets {
		server("widgets")
	}

	client("queue %s", g.oneOf("inorder", "deltafifo"))
	client("encoding %s", g.oneOf("json", "protobuf"))
	if g.percent(50) {
		client("lists")
	}
	if g.percent(40) {
		client("page %d", 2+g.IntN(3)) // with 1 a list would look like a probe
	}
	if g.percent(25) {
		client("selector app=web")
	}
	if g.percent(5) {
		client("shard %d 2", g.IntN(2))
	}
	if g.verify = g.percent(20); g.verify {
		client("verify %s", g.oneOf("1m", "5m"))
	}
	if g.percent(10) {
		client("idle %s", g.oneOf("30s", "2m"))
	}
	client("watch-timeout %s", g.oneOf("20s", "1m", "5m"))
	for n := range 3 + g.IntN(8) {
		g.names = append(g.names, string(rune('a'+n)))
	}
}

// step adds one step.
func (g *generator) step() {
	switch n := g.IntN(100); {
	case n < 30:
		g.put()
	case n < 36:
		g.dropped()
	case n < 38: // a name with another object
		names := g.some()
		g.met("F52")
		g.add("drop " + names)
		g.add("put " + names)
	case n < 58:
		g.fault()
		if g.percent(60) {
			g.add("close") // so that there are requests to meet it
		}
	case n < 70:
		g.add("advance " + g.oneOf("50ms", "1s", "5s", "30s", "90s", "10m"))
	case n < 75:
		g.add(g.oneOf("close", "close", "compact", "clear"))
	case n < 79:
		g.met("F54")
		g.add("restart" + g.oneOf("", " 1s", " 20s") + g.oneOf("", " cut"))
	case n < 83:
		g.topology()
	case n < 85:
		g.unit()
	default:
		g.handlersAndIndexes()
	}
}

func (g *generator) some() string {
	n := 1 + g.IntN(min(4, len(g.names)))
	var names []string
	for _, i := range g.Perm(len(g.names))[:n] {
		names = append(names, g.names[i])
	}
	return strings.Join(names, " ")
}

func (g *generator) put() {
	line := "put " + g.some()
	if g.percent(25) {
		line += " app=other"
	}
	g.add(line)
}

func (g *generator) dropped() {
	line := "drop " + g.some()
	if g.verify && g.percent(30) { // nothing else finds what lingers
		line += " together"
		g.met("F49")
	}
	g.add(line)
}

func (g *generator) fault() {
	n := g.IntN(g.faultWeight)
	for _, f := range g.faults {
		if n -= f.weight; n < 0 {
			g.add(f.line(g.draw))
			g.met(f.id)
			return
		}
	}
}

func (g *generator) topology() {
	if g.servers == 1 {
		g.add(fmt.Sprintf("bump %d", 1+g.IntN(40)))
		return
	}
	server := g.IntN(g.servers)
	switch g.IntN(3) {
	case 0:
		g.add(fmt.Sprintf("lag %s %d", g.oneOf("frozen", "1", "3", "0"), server))
	default:
		g.met("F53")
		g.add(fmt.Sprintf("use %d", server))
	}
}

// unit adds lines that make sense together only: a server that lies can do so only
// where the client can know better.
func (g *generator) unit() {
	switch g.IntN(4) {
	case 0: // F22: the client has a newer state than that
		g.met("F22")
		g.add("put a", "put b", "rest", "fault list times=1 : version 101", "fault watch times=1 : error 410 0", "close")
	case 1: // F44: nothing is on its way, so the bookmark is true
		g.met("F44")
		g.add("rest", fmt.Sprintf("bump %d", 1+g.IntN(500)), "fault watch nth=1 : bookmark-ahead 0", "close", "advance 1s")
	default: // F55: the counter isn't past what the client has seen until it has found out
		n := 1 + g.IntN(2)
		g.met("F55")
		g.add("put a", "put b", "put c", "rest", fmt.Sprintf("rollback %d", n), "restart cut", "rest")
	}
}

// handlersAndIndexes adds a step that has to do with either.
func (g *generator) handlersAndIndexes() {
	if g.percent(30) {
		g.index()
		return
	}
	if len(g.handlers) == 0 || len(g.handlers) < 4 && g.percent(40) {
		g.join()
		return
	}
	i := g.IntN(len(g.handlers))
	name := g.handlers[i]
	switch g.IntN(6) {
	case 0:
		g.add("leave " + name)
		g.handlers = slices.Delete(g.handlers, i, i+1)
	case 1:
		g.add(fmt.Sprintf("panic %s %d", name, 1+g.IntN(3)))
	case 2:
		g.add("resume " + name)
	default:
		g.add("stall " + name)
	}
}

func (g *generator) join() {
	g.joined++
	line := fmt.Sprintf("join h%d %s", g.joined, g.oneOf("elastic", "latest", "block"))
	if g.percent(60) {
		line += fmt.Sprintf(" lag=%d", 1+g.IntN(3))
	}
	if g.percent(15) {
		line += " resync=" + g.oneOf("3s", "1m")
	}
	if g.percent(15) {
		g.add(line + fmt.Sprintf(" quits=%d", 1+g.IntN(5)))
		return // it leaves when it pleases, so no step may name it
	}
	g.add(line)
	g.handlers = append(g.handlers, fmt.Sprintf("h%d", g.joined))
}

func (g *generator) index() {
	name := g.oneOf("app", "turn", "letters", "picky")
	if i := slices.Index(g.indexes, name); i >= 0 {
		g.add("unindex " + name)
		g.indexes = slices.Delete(g.indexes, i, i+1)
		return
	}
	g.add("index " + name)
	g.indexes = append(g.indexes, name)
}
