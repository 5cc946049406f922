package apply_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/braid/apply"
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// randomWeb declares a Deployment: some of three containers, in any order, and what they have.
func randomWeb(rng *rand.Rand) string {
	maybe := func(text string) string {
		if rng.IntN(2) == 0 {
			return ""
		}
		return text
	}
	containers := []string{"{name: a, image: i" + maybe(", workingDir: /w") + maybe(", env: [{name: E, value: a}]") + maybe(", ports: [{containerPort: 80}]") + "}"}
	for _, name := range []string{"b", "c"} {
		if c := maybe("{name: " + name + ", image: i" + maybe(", env: [{name: F, value: b}, {name: E, value: b}]") + "}"); c != "" {
			containers = append(containers, c)
		}
	}
	rng.Shuffle(len(containers), func(i, j int) { containers[i], containers[j] = containers[j], containers[i] })
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web` + maybe(", labels: {a: x, b: x}") + `}, spec: {selector: {matchLabels: {app: web}}` + maybe(", paused: true") +
		`, template: {metadata: {labels: {app: web}}, spec: {containers: [` + strings.Join(containers, ", ") + `]` + maybe(", nodeSelector: {zone: a}") + maybe(", securityContext: {runAsUser: 1}") + `}}}}`
}

// randomWrite is a strategic patch by a person, a controller, or admission.
func randomWrite(rng *rand.Rand) (manager, patch string) {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	element := func() string {
		return "{name: " + pick("a", "b", "d", "e") + ", image: " + pick("i", "j") + pick("", ", workingDir: /x", ", tty: true, stdin: true") +
			pick("", ", env: [{name: G, value: x}]", ", env: [{name: G, $patch: delete}, {name: H, value: v}]", ", env: [{name: E, value: z}]") +
			pick("", ", ports: [{containerPort: 81, name: p}]", ", ports: [{containerPort: 80, hostPort: 80}]") + pick("", ", resources: {limits: {cpu: 1}}") + "}"
	}
	pod := pick("containers: ["+element()+"]", "containers: [{name: "+pick("d", "e")+", $patch: delete}]", "nodeSelector: {"+pick("disk: a", "zone: a", "disk: null")+"}",
		"securityContext: {"+pick("runAsUser: 1", "runAsGroup: 2", "fsGroup: 3, runAsGroup: 2")+"}", "hostNetwork: "+pick("true", "null"), "affinity: "+pick("{nodeAffinity: {}}", "{podAffinity: {}}", "null"),
		"tolerations: [{key: "+pick("k", "l")+"}]")
	return pick("kubectl-edit", "kubectl-patch", "operator", "nobody"), pick(
		`{metadata: {labels: {`+pick("a", "b", "c", "d")+`: `+pick("x", "z", "null")+`}}}`,
		`{metadata: {annotations: {`+pick("a", "b")+`: `+pick("x", "null")+`}}}`,
		`{spec: {`+pick("paused: true", "minReadySeconds: 5", "minReadySeconds: null")+`}}`,
		`{spec: {template: {spec: {`+pod+`}}}}`,
		`{spec: {template: {spec: {`+pod+`}}}}`,
		`{spec: {template: {spec: {`+pod+`}}}}`,
	)
}

// sameInEveryFormat holds the patches of a merge that prunes to its merged object, under both
// models.
func sameInEveryFormat(t *testing.T, live, desired *merge.Doc) {
	t.Helper()
	last, recorded, err := apply.Record{}.Exchange(live, desired)
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []merge.Model{merge.Strategic, merge.Structured} {
		m, err := merge.New(merge.Options{Schema: schemaOf(t, live), Model: model, ByHand: apply.ByHand(), Unowned: merge.UnownedGoes, Guard: merge.GuardValues})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(last, live, recorded)
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Merged()
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
			if format == merge.StrategicPatch && model != merge.Strategic {
				continue
			}
			patch, err := r.Patch(format)
			if err != nil {
				t.Fatal(err)
			}
			got, err := merge.ApplyPatch(format, live.JSON(), patch, merge.Options{Schema: schemaOf(t, live)})
			if err != nil || string(got) != string(want.JSON()) {
				t.Errorf("%v, model %v: %s makes\n%s, want\n%s", err, model, patch, got, want.JSON())
			}
		}
	}
}

// People, controllers and admission write to an object of ours in turns, and we declare this and
// that. To prune is to merge as if what is made by hand were deleted; it is just what a plan warns
// of; all else stays, in order; and then nothing is left to do.
func TestHandMadeLaws(t *testing.T) {
	server := kinds.NewServer(t, schema.BuiltinVersion())
	keeps, prunes := planner(t, apply.Options{}), planner(t, apply.Options{Unowned: merge.UnownedGoes})
	found := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		o := &tracked{t: t, server: server}
		var story []string
		say := func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) }
		for range 1 + rng.IntN(2) {
			manifest := randomWeb(rng)
			say("apply %s", manifest)
			o.apply(keeps, fromYAML(t, manifest))
			for range 1 + rng.IntN(5) {
				manager, patch := randomWrite(rng)
				say("%s %s", manager, patch)
				o.patch(manager, patch)
			}
		}
		manifest := randomWeb(rng)
		say("apply %s", manifest)
		plan, err := keeps.Plan(o.doc(), fromYAML(t, manifest))
		if err != nil {
			t.Fatal(err)
		}
		found += len(byHand(plan))
		sameInEveryFormat(t, o.doc(), fromYAML(t, manifest))
		prunedAsDeleted(t, o, keeps, prunes, fromYAML(t, manifest), "?")
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(story, "\n"))
		}
	}
	t.Logf("%d positions made by hand", found)
	if found < 100 {
		t.Errorf("only %d positions were made by hand", found)
	}
}
