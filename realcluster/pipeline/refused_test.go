package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/informer"
	"informer.example/reflector"
)

// A user who may not read is told so, and is served once they may. When the right
// is taken away the store stays as it was, and when it is given back nothing that
// happened meanwhile is missing.
func TestF9_ForbiddenThenGranted(t *testing.T) { // P1, P2
	t.Parallel()
	w := newWriter(t, podResource, makeNamespace(t))
	w.create("a")
	user, err := cluster.AddUser("reader-of-" + w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	s := followAs(t, user, "pods of a user", w.namespace, refusedSettings())
	s.awaitRefused(t, apierrors.IsForbidden)

	grant := func() {
		w.grant(rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader-of-" + w.namespace})
	}
	grant()
	s.awaitState(t, w)

	w.revoke()
	w.awaitAnswer(user, apierrors.IsForbidden)
	s.refuseAgain(t, w, apierrors.IsForbidden)
	grant()
	s.awaitState(t, w)
	s.checkResumed(t)
}

// The same with credentials: none that the server knows, good ones, and ones that
// have ceased to be good.
func TestF9_UnauthorizedThenGranted(t *testing.T) { // P1, P2
	t.Parallel()
	w := newWriter(t, podResource, makeNamespace(t))
	w.create("a")
	w.grant(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "reader"})
	var token atomic.Pointer[string]
	bad := "nonsense"
	token.Store(&bad)
	user := rest.AnonymousClientConfig(cluster.Config())
	user.Wrap(func(next http.RoundTripper) http.RoundTripper { return bearer{next, &token} })
	s := followAs(t, user, "pods of a service account", w.namespace, refusedSettings())
	s.awaitRefused(t, apierrors.IsUnauthorized)

	token.Store(w.newToken("reader"))
	s.awaitState(t, w)

	// A token ends with its account, once the server has forgotten that it was good.
	if err := w.kube().CoreV1().ServiceAccounts(w.namespace).Delete(t.Context(), "reader", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.awaitAnswer(user, apierrors.IsUnauthorized)
	s.refuseAgain(t, w, apierrors.IsUnauthorized)
	token.Store(w.newToken("reader"))
	s.awaitState(t, w)
	s.checkResumed(t)
}

// bearer sends the token of the moment.
type bearer struct {
	next  http.RoundTripper
	token *atomic.Pointer[string]
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+*b.token.Load())
	return b.next.RoundTrip(r)
}

// WrappedRoundTripper lets idle connections be closed.
func (b bearer) WrappedRoundTripper() http.RoundTripper { return b.next }

func refusedSettings() settings[*corev1.Pod] {
	return settings[*corev1.Pod]{podResource, reflector.EncodingAuto, informer.InOrder, listPods("application/json")}
}

// awaitRefused waits until the informer knows why it isn't served, and says so to
// who waits for it.
func (s *subject[T]) awaitRefused(t *testing.T, is func(error) bool) {
	t.Helper()
	eventually(t, s.name+": it is refused", func() bool { return is(s.status().LastError) }, s.describe)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.informer.WaitForSync(ctx); !is(err) {
		t.Errorf("%s: WaitForSync: %v; want why it is refused", s.name, err)
	}
}

func (s *subject[T]) awaitState(t *testing.T, w *writer) {
	t.Helper()
	state := w.state()
	eventually(t, s.name+": the handler is told the server's state", func() bool { return s.knows(state) }, s.describe)
	eventually(t, s.name+": the error is over", func() bool { return s.status().LastError == nil }, s.describe)
	s.checkCache(t)
}

// refuseAgain breaks the connection of an informer whose next request will be
// refused, and writes meanwhile.
func (s *subject[T]) refuseAgain(t *testing.T, w *writer, is func(error) bool) {
	t.Helper()
	before := w.state()
	s.way.CutOnce()
	eventually(t, s.name+": it is refused again", func() bool { return is(s.status().LastError) }, s.describe)
	w.create("b")
	w.touch("a")
	if !s.knows(before) || len(s.informer.Snapshot().List()) != len(before) || !s.hasSynced() {
		t.Errorf("%s: refused, it no longer has what it knew: %s", s.name, s.describe())
	}
}

// checkResumed: what was missed came by the watch.
func (s *subject[T]) checkResumed(t *testing.T) {
	t.Helper()
	if status := s.status(); len(status.Relists) != 0 {
		t.Errorf("%s: relists %v, want none: the server has the history", s.name, status.Relists)
	}
	s.stop(t)
}

func (s *subject[T]) describe() string { return fmt.Sprintf("%+v", s.status()) }

func (w *writer) kube() kubernetes.Interface {
	w.t.Helper()
	client, err := kubernetes.NewForConfig(unlimited(cluster.Config()))
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// grant lets someone read the pods of the namespace.
func (w *writer) grant(to rbacv1.Subject) {
	w.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "read"},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}}}
	if _, err := w.kube().RbacV1().Roles(w.namespace).Create(w.t.Context(), role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		w.t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "read"}, Subjects: []rbacv1.Subject{to},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "read"}}
	if _, err := w.kube().RbacV1().RoleBindings(w.namespace).Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) revoke() {
	w.t.Helper()
	if err := w.kube().RbacV1().RoleBindings(w.namespace).Delete(w.t.Context(), "read", metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// awaitAnswer waits until the server refuses a user's lists. It learns of a change
// by a watch of its own, and remembers good tokens for ten seconds.
func (w *writer) awaitAnswer(user *rest.Config, is func(error) bool) {
	w.t.Helper()
	client, err := kubernetes.NewForConfig(unlimited(rest.CopyConfig(user)))
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the user is refused", func() bool {
		_, err = client.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{Limit: 1})
		return is(err)
	}, func() string { return fmt.Sprint(err) })
}

// newToken makes a service account and returns a token of it.
func (w *writer) newToken(name string) *string {
	w.t.Helper()
	accounts := w.kube().CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	made, err := accounts.CreateToken(w.t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return &made.Status.Token
}
