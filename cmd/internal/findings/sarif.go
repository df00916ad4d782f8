package findings

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
)

// sarifSchema and sarifVersion are what OASIS SARIF 2.1.0 calls itself.
const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
)

// The objects of SARIF 2.1.0, section 3, as far as they are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   map[string]string  `json:"properties,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func writeSARIF(w io.Writer, r *Report) error {
	driver := sarifDriver{Name: "milena", Rules: []sarifRule{}}
	results := []sarifResult{}
	for i := range r.Findings {
		f := &r.Findings[i]
		rule := slices.IndexFunc(driver.Rules, func(s sarifRule) bool { return s.ID == f.Rule })
		if rule < 0 {
			rule = len(driver.Rules)
			_, kind, _ := strings.Cut(f.Rule, "/")
			text := strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(kind))
			driver.Rules = append(driver.Rules, sarifRule{f.Rule, sarifText{text}})
		}
		results = append(results, f.sarif(rule))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{sarifSchema, sarifVersion, []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}}})
}

func (f *Finding) sarif(rule int) sarifResult {
	message := f.Why
	if f.Fix != "" {
		message += " Fix: " + f.Fix + "."
	}
	location := sarifLocation{sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: f.New.File}).String()}}}
	if f.New.Line > 0 {
		location.Physical.Region = &sarifRegion{f.New.Line, f.New.codePoint(f.NewText)}
	}
	out := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: string(f.Severity), Message: sarifText{message},
		Locations:    []sarifLocation{location},
		Fingerprints: map[string]string{"milena/v1": strings.Join([]string{f.Subject, f.Rule, f.Direction, f.Path}, "|")},
		Properties:   map[string]string{"subject": f.Subject},
	}
	for key, value := range map[string]string{"compatibility": f.Level, "direction": f.Direction, "comparedWith": f.Version, "path": f.Path} {
		if value != "" {
			out.Properties[key] = value
		}
	}
	if f.Waiver != nil {
		out.Suppressions = []sarifSuppression{{"external", f.Waiver.Reason + " (until " + f.Waiver.Expires + ")"}}
	}
	return out
}

// codePoint is the column of a place in code points, as SARIF counts.
func (p Place) codePoint(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if n++; n == p.Line {
			return len([]rune(line[:min(p.Column-1, len(line))])) + 1
		}
	}
	return p.Column
}
