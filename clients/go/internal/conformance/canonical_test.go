package conformance

import (
	"encoding/json"
	"testing"
)

// The examples of RFC 8785, and what else has more than one way to be written.
func TestCanonical(t *testing.T) {
	for given, wanted := range map[string]string{
		`{ "b": 1.0, "a": [ 1e3, 0.000001, 1E-7, 1e21, 123456789012345680000, -0.0 ] }`: `{"a":[1000,0.000001,1e-7,1e+21,123456789012345680000,0],"b":1}`,
		`333333333.33333329`: `333333333.3333333`,
		`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u2028<&>"`: "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u2028<&>\"",
		`{"\ufb33":1,"\ud83d\ude02":2,"\u20ac":3,"1":4}`:           "{\"1\":4,\"€\":3,\"😂\":2,\"\ufb33\":1}",
		`[null, true, false, ""]`:                                  `[null,true,false,""]`,
	} {
		written, err := canonical(json.RawMessage(given))
		if err != nil || string(written) != wanted {
			t.Errorf("%s is written %s, not %s (%v)", given, written, wanted, err)
		}
	}
}
