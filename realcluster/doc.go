// Package realcluster runs a real kube-apiserver and etcd for tests.
//
//	binaries/go.mod ──go build──▶ .bin/<version>/{etcd,kube-apiserver,kubectl}
//	                                   │
//	                          guard (dies with its parent)
//	                                   │
//	        Start ──envtest──▶ etcd ◀── kube-apiserver ◀── Config() ── your client
//	                            ▲
//	                            └── EtcdClient(), CompactTo()
//
// The binaries are compiled from source that the Go module proxy serves;
// nothing else is downloaded. The first build takes minutes, so run
// `go run ./build` once: it says how far it is. Later runs find the result. Tests
// build too if they must, but go test shows nothing meanwhile and kills what takes
// longer than its -timeout, ten minutes. The binaries land in .bin, which git ignores. If KUBEBUILDER_ASSETS names a folder,
// the binaries in it are used as they are and nothing is built.
//
// binaries/ is a module of its own. Kubernetes needs 33 replacements and its own
// choice of versions; keeping it apart means neither that nor etcd decides what
// the code under test is compiled with. To move to another release, change the
// versions in binaries/go.mod (replacements have v0 where Kubernetes has v1), run
// go mod tidy there, then go run ./record here.
//
// What it promises:
//
//   - C1: A build happens once for each version of the sources, the flags, the Go
//     release and the platform. Two processes that want it build it once.
//   - C2: An interrupted build leaves nothing that looks finished.
//   - C3: Etcd and the server listen on loopback only, on ports that were free.
//   - C4: They end with the process that started them, however that ends: return,
//     failed test, panic, test timeout, Ctrl-C or kill -9. Their files go with them.
//   - C5: RestartAPIServer keeps address, certificates, users and data, so a client
//     made before it works after it.
//
// What it does not promise: nodes, controllers, a scheduler, or garbage
// collection. Pods stay as they were written, namespaces are never finalised, and
// there is no ServiceAccount admission. Windows is not supported.
package realcluster
