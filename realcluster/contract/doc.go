// Package contract holds a real API server against the list and watch contract,
// by the suite that the simulator is held against. It holds tests only.
//
//	apitest.Run ──▶ kube-apiserver with default gates
//	            ──▶ kube-apiserver with ShardedListAndWatch
package contract
