//! Formats the matrix as a table, with the reasons for failures.

use super::suite::ScenarioResult;

/// The row of one run of the suite.
pub struct ConformanceRow {
    pub suite: &'static str,
    pub set: String,
    /// How the gateway reached the fixture; nothing when it was the client.
    pub upstream: Option<&'static str>,
    /// How many scenarios there must be at least: a suite that ran nothing has passed nothing.
    pub expected: usize,
    pub scenarios: Vec<ScenarioResult>,
    /// Why the suite itself said no.
    pub refusal: Option<String>,
}

impl ConformanceRow {
    /// Everything that is wrong with the row; nothing when it passed.
    pub fn faults(&self) -> Vec<String> {
        let label = format!("{} {} ({})", self.suite, self.set, self.upstream.unwrap_or("-"));
        let mut faults = Vec::new();
        for scenario in &self.scenarios {
            let failed = scenario.failed.iter();
            faults.extend(failed.map(|why| format!("{label}: {}: {why}", scenario.name)));
        }
        if self.scenarios.len() < self.expected {
            let ran = self.scenarios.len();
            faults.push(format!("{label}: {ran} scenarios ran, {} should have", self.expected));
        }
        if let (true, Some(refusal)) = (faults.is_empty(), &self.refusal) {
            faults.push(format!("{label}: {refusal}"));
        }
        faults
    }

    fn cells(&self) -> [String; 6] {
        let unwritten = self.scenarios.iter().filter(|scenario| scenario.unwritten).count();
        let whole = self.scenarios.iter().filter(|scenario| scenario.failed.is_empty()).count();
        let whole = whole - unwritten;
        let passed: usize = self.scenarios.iter().map(|scenario| scenario.passed).sum();
        let failed: usize = self.scenarios.iter().map(|scenario| scenario.failed.len()).sum();
        [
            self.suite.to_owned(),
            self.set.clone(),
            self.upstream.unwrap_or("-").to_owned(),
            format!("{whole}/{}", self.scenarios.len().max(self.expected) - unwritten),
            format!("{passed}/{}", passed + failed),
            if self.faults().is_empty() { "passes" } else { "FAILS" }.to_owned(),
        ]
    }
}

/// A Markdown table of all rows.
pub fn table(rows: &[ConformanceRow]) -> String {
    let head = ["suite", "set", "upstream", "scenarios", "checks", "verdict"].map(str::to_owned);
    let rule = ["---"; 6].map(str::to_owned);
    let cells = [head, rule].into_iter().chain(rows.iter().map(ConformanceRow::cells));
    cells.map(|cells| format!("| {} |", cells.join(" | "))).collect::<Vec<_>>().join("\n")
}

/// The page `docs/conformance.md`.
pub fn document(rows: &[ConformanceRow]) -> String {
    let mut page = format!(
        "# Conformance\n\n\
         Written by `cargo xtask conformance --write`; `cargo xtask test` runs the same matrix.\n\n\
         `@modelcontextprotocol/conformance` runs through the gateway in front of our fixture in \
         each of its shapes, and against `toolgate conformance-client`. Scenarios the suite does not \
         score count here like all others, and no failure is expected. What the gateway sends to the \
         fixture passes a recorder, and every message of it is checked against the JSON Schema of \
         its revision; what it sends to the suite, the suite checks itself.\n\n{}\n",
        table(rows)
    );
    for row in rows {
        let upstream = row.upstream.map(|name| format!(", upstream {name}")).unwrap_or_default();
        page.push_str(&format!("\n## {} {}{upstream}\n\n", row.suite, row.set));
        for scenario in &row.scenarios {
            let mark = match (scenario.failed.is_empty(), scenario.unwritten) {
                (_, true) => "skipped by the suite itself",
                (true, false) => "passes",
                (false, false) => "FAILS",
            };
            page.push_str(&format!("- {}: {mark} ({} checks)\n", scenario.name, scenario.passed));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scenarios: usize, failed: &[&str], refusal: Option<&str>) -> ConformanceRow {
        let failed: Vec<String> = failed.iter().map(|&why| why.to_owned()).collect();
        let scenario = |name: usize| ScenarioResult {
            name: name.to_string(),
            passed: 1,
            failed: if name == 0 { failed.clone() } else { Vec::new() },
            unwritten: false,
        };
        ConformanceRow {
            suite: "1",
            set: "server".to_owned(),
            upstream: Some("stdio"),
            expected: 2,
            scenarios: (0..scenarios).map(scenario).collect(),
            refusal: refusal.map(str::to_owned),
        }
    }

    #[test]
    fn a_row_passes_only_whole() {
        assert!(row(2, &[], None).faults().is_empty());
        assert_eq!(row(2, &["no"], Some("exit 1")).faults(), ["1 server (stdio): 0: no"]);
        assert_eq!(row(1, &[], None).faults().len(), 1, "a scenario is missing");
        assert_eq!(row(2, &[], Some("exit 1")).faults().len(), 1, "the suite said no");
    }

    #[test]
    fn the_table_counts_scenarios_and_checks() {
        let table = table(&[row(2, &["no"], None)]);
        assert!(table.ends_with("| 1 | server | stdio | 1/2 | 2/3 | FAILS |"), "{table}");
    }
}
