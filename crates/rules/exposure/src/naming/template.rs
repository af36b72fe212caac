//! Matches URIs against URI templates.
//!
//! This covers enough of RFC 6570 to route a read to the server of the template. It neither expands
//! templates nor extracts variables.

/// Limits against hostile templates: matching costs at most their product.
const MAX_BYTES: usize = 8 * 1024;
const MAX_PIECES: usize = 64;

/// A part of a URI template.
enum UriTemplatePart<'t> {
    Literal(&'t str),
    /// `{name}`: something that holds no `/`, `?` or `#`.
    Segment,
    /// `{+name}`, `{?name}` and the like: anything, even nothing.
    Anything,
}

/// Returns true if the template can expand to `uri`.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    if template.len() > MAX_BYTES || uri.len() > MAX_BYTES {
        return false;
    }
    let Some(pieces) = pieces(template) else {
        return false;
    };
    let mut reached = vec![false; uri.len() + 1];
    reached[0] = true;
    for piece in &pieces {
        reached = step(piece, uri.as_bytes(), &reached);
    }
    reached[uri.len()]
}

fn pieces(template: &str) -> Option<Vec<UriTemplatePart<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        pieces.push(UriTemplatePart::Literal(literal));
        pieces.push(match expression.bytes().next()? {
            b'+' | b'#' | b'.' | b'/' | b';' | b'?' | b'&' => UriTemplatePart::Anything,
            _ => UriTemplatePart::Segment,
        });
        rest = after;
    }
    pieces.push(UriTemplatePart::Literal(rest));
    (pieces.len() <= MAX_PIECES).then_some(pieces)
}

/// Returns the positions in `uri` that are reachable after `piece`, given those before it.
fn step(piece: &UriTemplatePart<'_>, uri: &[u8], reached: &[bool]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    match piece {
        UriTemplatePart::Literal(literal) => {
            for (place, _) in reached.iter().enumerate().filter(|(_, stands)| **stands) {
                if uri[place..].starts_with(literal.as_bytes()) {
                    next[place + literal.len()] = true;
                }
            }
        }
        UriTemplatePart::Segment => {
            let mut inside = false;
            for (place, byte) in uri.iter().enumerate() {
                inside = (inside || reached[place]) && !matches!(byte, b'/' | b'?' | b'#');
                next[place + 1] = inside;
            }
        }
        UriTemplatePart::Anything => {
            let mut inside = false;
            for (place, stands) in reached.iter().enumerate() {
                inside |= stands;
                next[place] = inside;
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_stands_for_one_segment() {
        assert!(matches("test://item/{id}/data", "test://item/123/data"));
        assert!(!matches("test://item/{id}/data", "test://item/1/2/data"));
        assert!(!matches("test://item/{id}/data", "test://item//data"));
        assert!(matches("x:{a}-{b}", "x:1-2-3"));
    }

    #[test]
    fn a_reserved_variable_stands_for_anything() {
        assert!(matches("file:///{+path}", "file:///a/b/c"));
        assert!(matches("db://rows{?limit,after}", "db://rows?limit=1"));
        assert!(matches("db://rows{?limit,after}", "db://rows"));
    }

    #[test]
    fn a_broken_or_oversized_template_matches_nothing() {
        assert!(!matches("x:{a", "x:1"));
        assert!(!matches("x:{}", "x:1"));
        assert!(!matches(&"{a}".repeat(100), &"a".repeat(100)));
    }
}
