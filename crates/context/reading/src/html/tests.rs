//! The passages of HTML pages.

use crate::{DocumentFormat, ParsedDocument, PassageLocation, read};

fn document(text: &str) -> ParsedDocument {
    read(DocumentFormat::Html, "pages/some-page.html", text)
}

fn shape(text: &str) -> Vec<(String, (u32, u32), String)> {
    let passages = document(text).passages.into_iter();
    passages
        .map(|passage| match passage.place {
            PassageLocation::Lines(first, last) => (passage.heading, (first, last), passage.text),
            PassageLocation::Page(_) => unreachable!("a page of HTML has lines"),
        })
        .collect()
}

fn one(heading: &str, lines: (u32, u32), text: &str) -> (String, (u32, u32), String) {
    (heading.to_owned(), lines, text.to_owned())
}

const PAGE: &str = "<!DOCTYPE html>
<html><head><title>The &amp; page</title>
<style>p { color: red }</style>
<script>if (a < b) { document.write('<p>no</p>') }</script></head>
<body>
<nav><ul><li>Home<li>About</ul></nav>
<h1>First <em>thing</em></h1>
<p>One &mdash; two
three.</p>
<p>Four<br>five</p>
<h2>Second</h2>
<ul>
  <li>a</li>
  <li>b</li>
</ul>
<pre>
let x = 1;
  let y = 2;
</pre>
<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
</body></html>
";

#[test]
fn a_page_comes_apart_under_its_headings() {
    assert_eq!(document(PAGE).title, "The & page");
    assert_eq!(
        shape(PAGE),
        [
            one("First thing", (7, 10), "First thing\n\nOne — two three.\n\nFour\nfive"),
            one(
                "First thing > Second",
                (11, 20),
                "Second\n\n- a\n- b\n\nlet x = 1;\n  let y = 2;\n\nk | v\n1 | 2"
            ),
        ]
    );
}

#[test]
fn what_is_not_read_is_not_there() {
    for hidden in [
        "<script>secret</script>",
        "<SCRIPT>secret</Script >",
        "<style>secret</style>",
        "<!-- secret -->",
        "<nav><nav>x</nav>secret</nav>",
        "<svg><text>secret</text></svg>",
        "<template>secret</template>",
        "<p title='secret'>",
        "<script>secret",
    ] {
        let all = format!("<p>before</p>{hidden}<p>after</p>");
        let text: String = document(&all).passages.into_iter().map(|it| it.text).collect();
        assert!(text.contains("before") && !text.contains("secret"), "{hidden}: {text}");
    }
}

#[test]
fn navigation_nobody_closed_ends_at_the_content() {
    let text: String = shape("<nav>menu<main><p>matter").into_iter().map(|it| it.2).collect();
    assert_eq!(text, "matter");
}

#[test]
fn without_a_title_the_heading_is_it() {
    assert_eq!(document("<h1>Head</h1>x").title, "Head");
    assert_eq!(document("<p>x").title, "some page");
}

#[test]
fn a_page_may_be_nested_as_deep_as_it_likes() {
    let depth = 200_000;
    for (open, close) in
        [("<div>", "</div>"), ("<b>", ""), ("<nav>", ""), ("<h1>", ""), ("<pre>", "")]
    {
        let text = format!("{}deep text{}", open.repeat(depth), close.repeat(depth));
        let shape = shape(&text);
        assert_eq!(shape.len(), usize::from(open != "<nav>"), "{open}");
    }
}

#[test]
fn headings_without_text_below_are_kept() {
    let shape = shape("<h1>A</h1><h2>B</h2><h2>C</h2><p>c</p><h1>D</h1>");
    let all: Vec<_> = shape.iter().map(|(heading, _, text)| (&**heading, &**text)).collect();
    assert_eq!(all, [("A > B", "A\n\nB"), ("A > C", "C\n\nc"), ("D", "D")]);
}
