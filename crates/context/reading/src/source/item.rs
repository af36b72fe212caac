//! Recognizes the first line of an item in source code, and its name.

use crate::lines::join_words;

/// The maximum length of such a line, in bytes.
const LONGEST: usize = 400;

/// Modifiers before the keyword of an item.
const MODIFIERS: &str = " abstract actual async const constexpr data declare default eager expect explicit export extern \
final fileprivate global implicit inline inner internal lazy local mutating native noncomputed nonisolated open operator \
override partial private protected pub public pure readonly sealed static suspend synchronized unsafe virtual ";

/// Keywords of items.
const KINDS: &str = " class contract def defmacro defmodule defp defprotocol enum fn fun func function impl interface \
macro_rules! mod namespace proc procedure sub struct subroutine trait ";

/// Keywords that count only if a body follows, because they are also used as names.
const WEAK: &str =
    " actor extension message module object package protocol record service type union ";

/// Words at the start of lines that look like a C function but are not.
const NONE: &str = " if for while switch return else case catch do throw new delete await yield assert foreach until unless \
when with try using lock fixed elif match loop goto sizeof typeof not and or in print echo import from use include require raise \
defer go select export var let const ";

/// Kinds of objects that SQL creates.
const TABLES: [&str; 7] = ["table", "view", "function", "procedure", "index", "trigger", "type"];

/// Returns the label of the item that begins with this line: `fn parse`, `class Reader`, `main()`.
pub(super) fn item_label(line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return None;
    }
    let bare = without_modifiers(line);
    keyword_item(bare)
        .or_else(|| assigned_function(bare))
        .or_else(|| sql_item(line))
        .or_else(|| function(line))
}

fn has(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|known| known == word)
}

fn without_modifiers(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..6 {
        let end = rest.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_abi = word.starts_with('"') && word.ends_with('"');
        if !(has(MODIFIERS, word) || is_abi) {
            break;
        }
        // `pub(crate)`
        let behind = match behind.strip_prefix('(') {
            Some(inner) => inner.find(')').map_or("", |end| &inner[end + 1..]),
            None => behind,
        };
        // `const NAME` is a constant, not a modified item.
        if word == "const" && !behind.trim_start().starts_with(['f', 'u', 'a', 'e']) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

/// Recognizes items that begin with a keyword.
fn keyword_item(line: &str) -> Option<String> {
    let (kind, rest) = generic(line).or_else(|| line.split_once(|c: char| c.is_whitespace()))?;
    let rest = rest.trim_start();
    let is_weak = has(WEAK, kind);
    if !(has(KINDS, kind) || (is_weak && has_body(line))) {
        return None;
    }
    if kind == "impl" {
        let end = rest.find(['{', ';']).unwrap_or(rest.len());
        let head = rest[..end].split(" where ").next().unwrap_or(rest);
        return Some(format!("impl {}", join_words(head)));
    }
    if let Some((receiver, method)) = go_method(kind, rest) {
        return Some(format!("func {receiver}.{method}"));
    }
    let rest = ["class ", "struct "].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    let name = name(rest.trim_start_matches('*').trim_start())?;
    Some(format!("{kind} {name}"))
}

/// Separates the generic parameters of `impl<T> Name` from the name.
fn generic(line: &str) -> Option<(&str, &str)> {
    let (kind, rest) = line.split_once('<').filter(|(kind, _)| *kind == "impl")?;
    let mut open = 1_usize;
    let mut before = b'<';
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'<' => open += 1,
            b'>' if before != b'-' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((kind, &rest[at + 1..]));
        }
        before = byte;
    }
    None
}

fn has_body(line: &str) -> bool {
    line.ends_with(['{', ':', '(', ',']) || line.contains('=') || line.ends_with("do")
}

/// Recognizes a Go method: `func (r *Reader) Read(`.
fn go_method<'a>(kind: &str, rest: &'a str) -> Option<(&'a str, &'a str)> {
    let (receiver, behind) = rest.strip_prefix('(').filter(|_| kind == "func")?.split_once(')')?;
    let receiver = receiver.split_whitespace().next_back()?.trim_start_matches('*');
    let receiver = receiver.split('[').next().unwrap_or(receiver);
    name(behind.trim_start()).map(|method| (receiver, method))
}

/// Recognizes JavaScript functions that are assigned: `const name = (…) =>`.
fn assigned_function(line: &str) -> Option<String> {
    let line = ["const ", "let ", "var "].iter().find_map(|it| line.strip_prefix(it))?;
    let (left, right) = line.split_once('=')?;
    let is_function = right.contains("=>")
        || right.trim_start().starts_with("function")
        || right.trim_start().starts_with("async");
    name(left.trim()).filter(|_| is_function).map(|name| format!("const {name}"))
}

/// Recognizes a `CREATE` statement of SQL.
fn sql_item(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().map(str::to_ascii_lowercase);
    if words.next()? != "create" {
        return None;
    }
    let mut near = words.take(4);
    let table = near.find(|word| TABLES.contains(&word.as_str()))?;
    let at = line.to_ascii_lowercase().find(&table)? + table.len();
    let rest = line.get(at..)?.trim_start();
    let rest = rest
        .get(..14)
        .filter(|it| it.eq_ignore_ascii_case("if not exists "))
        .map_or(rest, |it| &rest[it.len()..]);
    let rest = rest.trim_start_matches(['"', '`', '[']);
    name(rest).map(|name| format!("create {table} {name}"))
}

/// Recognizes a function without a keyword: a name, parentheses, and a body.
fn function(line: &str) -> Option<String> {
    let is_begun =
        line.ends_with(['{', ')', ',', '(']) || line.ends_with("=>") || line.ends_with("const");
    let (head, _) = line.split_once('(').filter(|_| is_begun)?;
    let first = head.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    if has(NONE, first) || head.contains(['=', '"', '\'', ';', '{', '[', '.', '!', '?', '%', '/']) {
        return None;
    }
    let head = head.trim_end();
    let start =
        head.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '~' | '$' | '#')));
    let start = start.map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    let (types, called) = head.split_at(start);
    let has_type = types.split_whitespace().any(|word| word.starts_with(char::is_alphabetic));
    // Without a type before the name it is a call, unless a body opens on this line.
    let opens = line.ends_with('{') && !line.contains("=>");
    let is_name =
        called.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '~' | '$' | '#'));
    (is_name && (opens || has_type || called.contains("::")) && !has(NONE, called))
        .then(|| format!("{called}()"))
}

/// Returns the name at the start of a text.
fn name(text: &str) -> Option<&str> {
    let is_part = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | ':' | '?' | '!' | '-' | '\'')
    };
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches([':', '-', '.']);
    name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::item_label;

    #[test]
    fn items_are_known_in_many_languages() {
        for (line, label) in [
            ("pub(crate) async fn parse(text: &str) -> u32 {", "fn parse"),
            ("const fn least() -> u32 {", "fn least"),
            ("impl<T: Ord> Display for Tree<T> {", "impl Display for Tree<T>"),
            ("unsafe impl<'a, F: Fn(&'a str) -> bool> Send for X<F> {}", "impl Send for X<F>"),
            ("impl Reader {", "impl Reader"),
            ("macro_rules! check {", "macro_rules! check"),
            ("def read(self, path):", "def read"),
            ("async def fetch():", "def fetch"),
            ("class Reader(Base):", "class Reader"),
            ("public static void main(String[] args) {", "main()"),
            ("int Foo::bar(int a)", "Foo::bar()"),
            ("static int parse_line(char *line, size_t n)", "parse_line()"),
            ("export default function load(url) {", "function load"),
            ("export const load = async (url) => {", "const load"),
            ("render() {", "render()"),
            ("func (r *Reader) Read(p []byte) (int, error) {", "func Reader.Read"),
            ("func main() {", "func main"),
            ("type Config struct {", "type Config"),
            ("interface Props extends Base {", "interface Props"),
            ("CREATE TABLE IF NOT EXISTS passages (", "create table passages"),
            ("create or replace function total(", "create function total"),
            ("defmodule My.App do", "defmodule My.App"),
            ("enum class Color {", "enum Color"),
            ("fun String.last(): Char {", "fun String.last"),
            ("deploy() {", "deploy()"),
        ] {
            assert_eq!(item_label(line).as_deref(), Some(label), "{line}");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "if (a) {",
            "} else if (b) {",
            "for (int i = 0; i < n; i++) {",
            "return call(a,",
            "let x = parse(text);",
            "self.read(path)",
            "foo(a, b);",
            "print(value)",
            "const MAX: usize = 4;",
            "type = 3",
            "object.method() {",
            "while (true)",
            "match value {",
            "import x from \"y\"",
            "x = [f(a),",
            "classes are nice",
            "defer close(",
        ] {
            assert_eq!(item_label(line), None, "{line}");
        }
    }
}
