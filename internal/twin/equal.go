package twin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

func elemOf(t *schema.Type) *schema.Type {
	if t.Elem != nil {
		return t.Elem
	}
	return schema.Unknown
}

// same compares two values by their type.
func (m *merger) same(t *schema.Type, x, y any) bool {
	if m.Equality == walk.Exact {
		return Equal(x, y)
	}
	return reflect.DeepEqual(canon(m.meaning(t, x)), canon(m.meaning(t, y)))
}

// meaning rewrites a value so that what means the same is the same.
func (m *merger) meaning(t *schema.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if f := fieldOf(t, k); f.Zero == schema.ZeroTells || !m.zero(f.Type, e) {
				out[k] = m.meaning(f.Type, e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, m.meaning(elemOf(t), e))
		}
		return out
	case string, json.Number, int64, float64:
		return meaningOf(t.Kind, v)
	}
	return v
}

func meaningOf(kind schema.Kind, v any) any {
	text := fmt.Sprint(v)
	if n, ok := v.(float64); ok {
		b, _ := json.Marshal(n)
		text = string(b)
	}
	_, isText := v.(string)
	switch {
	case kind == schema.Quantity:
		if q, err := resource.ParseQuantity(text); err == nil {
			r, _ := new(big.Rat).SetString(q.AsDec().String())
			return "quantity " + r.String()
		}
	case kind == schema.Duration && isText:
		if d, err := time.ParseDuration(text); err == nil {
			return "duration " + d.String()
		}
	case kind == schema.Time && isText:
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return "time " + at.UTC().Format(time.RFC3339Nano)
		}
	case kind == schema.Bytes && isText:
		if b, err := base64.StdEncoding.DecodeString(text); err == nil {
			return "bytes " + string(b)
		}
	}
	return v
}

// zero reports whether a value is the zero of a field's type.
func (m *merger) zero(t *schema.Type, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(m.meaning(t, v).(map[string]any)) == 0
	case []any:
		return len(v) == 0
	case nil:
		return true
	case string:
		switch meaning := meaningOf(t.Kind, v); t.Kind {
		case schema.Quantity, schema.Duration, schema.IntOrString, schema.Time:
			return meaning == "quantity 0/1" || meaning == "duration 0s"
		}
		return v == ""
	case bool:
		return !v
	}
	return Equal(v, int64(0))
}

func (m *merger) orAbsent(t *schema.Type, v any) bool { return !present(v) || m.zero(t, v) }

// covers reports whether live is v with only fields added.
func (m *merger) covers(t *schema.Type, live, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for k, e := range v {
			f := fieldOf(t, k)
			lv, has := l[k]
			fits := has && m.covers(f.Type, lv, e) || !has && e == nil && !m.keepsNull(f.Type)
			if f.Zero != schema.ZeroTells && m.Equality == walk.Semantic && m.zero(f.Type, m.strip(f.Type, e)) {
				fits = fits || !has || m.zero(f.Type, lv) || f.Zero == schema.ZeroIsAuto
			}
			ok = ok && fits
		}
		return ok
	case []any:
		l, ok := live.([]any)
		ok = ok && len(l) == len(v)
		for i := 0; ok && i < len(v); i++ {
			ok = m.covers(elemOf(t), l[i], v[i])
		}
		return ok
	}
	return m.same(t, live, v)
}
