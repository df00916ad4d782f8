// Package findings is what checks of schema files report, and the forms in
// which they are written: text with code frames, JSON, JUnit, SARIF 2.1.0,
// annotations of GitHub, and Markdown.
//
// It checks nothing itself. A Report is filled by one goroutine and written by
// one.
package findings
