// Package fault breaks the conversation between a client and an API server, on
// the wire and on purpose.
//
//	client ──▶ Script ──▶ fault ──▶ server
//	           which       refuse, hang, break off,
//	           request     change what is in the answer
//
// A [Fault] stands between one request and the server. A [Script] chooses which
// request meets which fault:
//
//	script := fault.New()
//	script.On(fault.Watch).Nth(2).Do(fault.EndAfter(3))              // the second watch ends after 3 events
//	script.On(fault.List).Page(2).Times(1).Do(fault.Expired(token))  // one second page is 410
//	script.On(fault.Any).For(time.Minute).Do(fault.Break())          // a minute's outage
//
// It is put in front of any server: as a handler (Script.Handler), in front of
// an apisim.Server in memory (Server.SetFault(script.Choose)), or in front of a
// real server as a reverse proxy ([Serve], [Proxy]).
//
// The faults that change an answer understand it: the frames of a watch and the
// items of a list, in JSON and in protobuf. They ask the server for an answer
// that is not compressed.
//
// # Promises
//
//   - C1. A request that meets no fault is passed on untouched, at once.
//   - C2. The rules of a script are tried in the order in which they were added;
//     the first that has something to say about a request decides.
//   - C3. What a fault lets through arrives as the server sent it, in order, and
//     no later than it would have come.
//   - C4. A broken answer is broken: the client never sees a clean end where
//     the fault says break, and never a break where it says end.
//   - C5. When a fault ends an answer, the server's side of it ends too.
//
// # Where the socket shows
//
// In memory a connection that breaks is [io.ErrUnexpectedEOF] for the client.
// Over TCP the same faults end the connection without the last chunk, or the
// stream with RST_STREAM in HTTP/2. [Reset] sends a TCP RST where there is a
// TCP connection to reset, and breaks off like the others where there is none.
package fault
