package node

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// typed returns a Deployment whose containers have so many environment variables.
func typed(containers, env int) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/part-of": "store"}
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", Labels: labels, CreationTimestamp: metav1.Unix(1, 0)},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
		Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{LastUpdateTime: metav1.NewTime(time.Unix(1, 0))}}},
	}
	for i := range containers {
		c := corev1.Container{
			Name: fmt.Sprintf("container-%d", i), Image: "registry.example.com/shop/backend:1.2.3",
			Ports:          []corev1.ContainerPort{{ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources:      corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("128Mi")}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/data", ReadOnly: true}},
		}
		for j := range env {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", j), Value: fmt.Sprintf("https://svc-%d.example.com:8443/", j)})
		}
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, c)
	}
	return d
}

func BenchmarkFromObject(b *testing.B) {
	d := typed(3, 10)
	text, err := json.Marshal(d)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := FromObject(d, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(text, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("marshal and parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text, err := json.Marshal(d)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := Parse(text, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A typed Deployment takes the tree, its text, nodes and kids, and no more for more values;
// but for one that upstream makes for each binary quantity.
func TestAllocationsOfTypedObjects(t *testing.T) {
	if raceEnabled {
		t.Skip("pools lose what they hold under the race detector")
	}
	for _, c := range []struct{ containers, env int }{{0, 0}, {3, 10}, {10, 50}} {
		d := typed(c.containers, c.env)
		sameAsJSON(t, d)
		most := float64(4 + c.containers)
		if got := testing.AllocsPerRun(100, func() { FromObject(d, Limits{}) }); got > most {
			t.Errorf("%d containers with %d variables: %v allocations, at most %v", c.containers, c.env, got, most)
		}
	}
	for name, c := range map[string]struct {
		obj  any
		most float64
	}{
		"quantities without a text": {&[]resource.Quantity{*resource.NewMilliQuantity(1500, resource.DecimalSI), *resource.NewQuantity(7, resource.DecimalExponent)}, 4},
		"one that is binary":        {resource.NewQuantity(128<<20, resource.BinarySI), 5},
		"times":                     {&[]metav1.MicroTime{metav1.NewMicroTime(time.Unix(1, 0)), {}}, 4},
		"ports":                     {&[]intstr.IntOrString{intstr.FromInt32(1 << 20), intstr.FromString("http")}, 4},
		"maps":                      {&map[int]map[string]*inner{1 << 20: {"a": {}, "b": nil}, 3: {}}, 6}, // the text of a key is made
		"interfaces":                {map[string]any{"a": []any{"b", 1, map[string]any{}}}, 4},
		"data of a secret":          {&corev1.Secret{Data: map[string][]byte{"a": []byte("b"), "c": []byte("d")}}, 4},
	} {
		sameAsJSON(t, c.obj)
		if got := testing.AllocsPerRun(100, func() { FromObject(c.obj, Limits{}) }); got > c.most {
			t.Errorf("%s: %v allocations, at most %v", name, got, c.most)
		}
	}
}
