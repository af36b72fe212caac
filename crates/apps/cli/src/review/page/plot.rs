//! Renders plots over time as SVG, each with a table of its numbers for accessibility.

use std::fmt::Write as _;

use crate::review::escape::escape_html as safe;

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 190.0;
/// The margins for the numbers on the left, the times below and the names above.
const LEFT: f64 = 62.0;
const BELOW: f64 = 22.0;
const ABOVE: f64 = 8.0;
/// The number of horizontal grid lines.
const LINES: u64 = 4;

/// One series of values over time.
pub(super) struct PlotSeries {
    name: &'static str,
    shade: &'static str,
    values: Vec<Option<u64>>,
}

impl PlotSeries {
    pub(super) fn new(name: &'static str, shade: &'static str, values: Vec<Option<u64>>) -> Self {
        Self { name, shade, values }
    }
}

/// A plot of several series over the same time.
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    /// The start of each slice.
    pub(super) labels: &'a [&'a str],
    /// Formats a value.
    pub(super) format_value: fn(u64) -> String,
    pub(super) series: &'a [PlotSeries],
}

impl Plot<'_> {
    /// Renders stacked bars.
    pub(super) fn bars(&self) -> String {
        let sum = |at: usize| self.series.iter().filter_map(|one| one.values[at]).sum::<u64>();
        let top = ceiling((0..self.labels.len()).map(sum).max().unwrap_or(0));
        let mut drawn = String::new();
        let width = self.step();
        for at in 0..self.labels.len() {
            let mut so_far = 0;
            for one in self.series {
                let value = one.values[at].unwrap_or(0);
                if value > 0 {
                    so_far += value;
                    let (x, y) = (self.x(at), height(so_far, top));
                    let tall = height(so_far - value, top) - y;
                    let wide = (width - 1.0).max(0.6);
                    _ = writeln!(
                        drawn,
                        "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" \
                         height=\"{tall:.1}\"/>",
                        one.shade
                    );
                }
            }
        }
        self.render_figure(top, &drawn)
    }

    /// Renders lines with gaps where values are missing.
    pub(super) fn lines(&self) -> String {
        let values = self.series.iter().flat_map(|one| one.values.iter().flatten());
        let top = ceiling(values.max().copied().unwrap_or(0));
        let mut drawn = String::new();
        for one in self.series {
            let mut path = String::new();
            let mut after_gap = true;
            for (at, value) in one.values.iter().enumerate() {
                let Some(value) = value else {
                    after_gap = true;
                    continue;
                };
                let (x, y) = (self.x(at) + self.step() / 2.0, height(*value, top));
                // A single value becomes a dot: a very short line with round ends.
                let to = if after_gap { format!("M{x:.1} {y:.1}h.01") } else { String::new() };
                _ = write!(path, "{to}L{x:.1} {y:.1}");
                after_gap = false;
            }
            let shade = one.shade;
            _ = writeln!(
                drawn,
                "<path class=\"gap {shade}\" stroke-linecap=\"round\" d=\"{path}\"/>"
            );
        }
        self.render_figure(top, &drawn)
    }

    fn step(&self) -> f64 {
        (WIDTH - LEFT) / self.labels.len().max(1) as f64
    }

    fn x(&self, at: usize) -> f64 {
        LEFT + at as f64 * self.step()
    }

    fn render_figure(&self, top: u64, drawn: &str) -> String {
        let title = self.title;
        let names: Vec<_> = self
            .series
            .iter()
            .map(|one| format!("<span class=\"{}\">■ {}</span>", one.shade, one.name))
            .collect();
        format!(
            "<h2>{title}</h2>\n<figure>\n<figcaption>{}</figcaption>\n\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title} over time\">\n\
             {}{drawn}</svg>\n{}</figure>\n",
            names.join(" "),
            self.axes(top),
            self.table()
        )
    }

    fn axes(&self, top: u64) -> String {
        let mut axes = String::new();
        let mut written = None;
        for line in 0..=LINES {
            let value = top / LINES * line;
            let (y, end) = (height(value, top), WIDTH);
            _ = write!(axes, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{end}\"/>");
            if written != Some(value) {
                written = Some(value);
                let (x, y, text) = (LEFT - 6.0, y + 4.0, safe(&(self.format_value)(value)));
                _ = writeln!(
                    axes,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>"
                );
            }
        }
        let ends = [(0, "start"), (self.labels.len().saturating_sub(1), "end")];
        let shown = if self.labels.len() > 1 { &ends[..] } else { &ends[..1] };
        for (at, anchor) in shown {
            let x = if *anchor == "end" { WIDTH } else { self.x(*at) };
            let (y, text) = (HEIGHT - 6.0, self.labels.get(*at).copied().unwrap_or_default());
            _ = writeln!(
                axes,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                safe(text)
            );
        }
        axes
    }

    fn table(&self) -> String {
        let head: String =
            self.series.iter().map(|one| format!("<th class=\"n\">{}</th>", one.name)).collect();
        let mut rows = String::new();
        for (at, label) in self.labels.iter().enumerate() {
            let cell = |one: &PlotSeries| {
                let text =
                    one.values[at].map_or("–".to_owned(), |value| (self.format_value)(value));
                format!("<td class=\"n\">{}</td>", safe(&text))
            };
            let cells: String = self.series.iter().map(cell).collect();
            _ = writeln!(rows, "<tr><td>{}</td>{cells}</tr>", safe(label));
        }
        format!(
            "<details><summary>numbers</summary><table><tr><th>From</th>{head}</tr>\n{rows}\
             </table></details>\n"
        )
    }
}

/// Returns the vertical position of a value.
fn height(value: u64, top: u64) -> f64 {
    let room = HEIGHT - ABOVE - BELOW;
    ABOVE + room * (1.0 - value as f64 / top.max(1) as f64)
}

/// Returns the next larger round number that is divisible by four.
fn ceiling(most: u64) -> u64 {
    let mut scale = 4_u64;
    loop {
        for step in [1, 2, 3, 5] {
            if scale.saturating_mul(step) >= most {
                return scale.saturating_mul(step);
            }
        }
        scale = scale.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_above_everything_and_not_far() {
        for most in [0, 1, 4, 5, 99, 100, 12_345, u64::MAX / 64] {
            let top = ceiling(most);
            assert!(top >= most && top <= most.max(2) * 5 / 2 + 4, "{most} {top}");
        }
        assert_eq!(ceiling(u64::MAX), u64::MAX);
    }
}
