package tidy

// functionAllowance lists the functions that are longer than the limit, with
// their lines: hot loops whose switch is the idea. A number may only go down.
func functionAllowance() map[string]int {
	return map[string]int{
		"serde/avro/run.go values":      124,
		"serde/avro/rebuild.go rebuild": 95,
	}
}
