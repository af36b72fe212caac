//! Resources in a real library.

use tempfile::TempDir;
use toolgate_library::{DocumentOrigin, DocumentTrust, Library};

use super::{
    ResourceBody, ResourceCompileOutcome, ResourcePart, ResourceSnapshot, compile, digest,
    resource_key,
};
use crate::error::ContextError;
use crate::pdf::PdfReader;

async fn library() -> (TempDir, Library) {
    let folder = TempDir::new().unwrap();
    let library = Library::open(folder.path().join("context.db")).await.unwrap();
    (folder, library)
}

fn text(uri: &str, mime: &str, text: &str) -> ResourcePart {
    ResourcePart { uri: uri.into(), mime: Some(mime.into()), body: ResourceBody::Text(text.into()) }
}

fn blob(uri: &str, mime: &str, bytes: &[u8]) -> ResourcePart {
    ResourcePart {
        uri: uri.into(),
        mime: Some(mime.into()),
        body: ResourceBody::Blob(bytes.into()),
    }
}

fn resource(parts: Vec<ResourcePart>) -> ResourceSnapshot {
    let (server, uri) = ("wiki".to_owned(), "w://page".to_owned());
    ResourceSnapshot { server, uri, name: None, trust: DocumentTrust::Untrusted, parts }
}

async fn kept(library: &Library, resource: ResourceSnapshot) -> super::ResourceCompileReport {
    compile(library, &PdfReader::disabled(), resource).await.unwrap()
}

#[tokio::test]
async fn a_resource_is_added_then_unchanged_then_changed() {
    let (_folder, library) = library().await;
    let page = |words: &str| resource(vec![text("w://page", "text/markdown", words)]);
    let first = kept(&library, page("# Plan\n\nold words\n")).await;
    assert_eq!((first.outcome, first.title.as_str()), (ResourceCompileOutcome::Added, "Plan"));
    assert_eq!(
        kept(&library, page("# Plan\n\nold words\n")).await.outcome,
        ResourceCompileOutcome::Unchanged
    );
    let changed = kept(&library, page("# Plan\n\nnew words\n")).await;
    assert_eq!(changed.outcome, ResourceCompileOutcome::Changed);
    let card = library.find_document(&resource_key("wiki", "w://page")).await.unwrap().unwrap();
    assert_eq!(
        card.origin,
        DocumentOrigin::Resource { server: "wiki".into(), uri: "w://page".into() }
    );
    assert_eq!(card.stamp.digest.to_string(), changed.digest);
    let passages = library.document_passages(&card.key).await.unwrap();
    assert!(passages.iter().all(|passage| !passage.text.contains("old")), "{passages:?}");
}

#[tokio::test]
async fn trust_alone_changes_a_document() {
    let (_folder, library) = library().await;
    let page = |trust| ResourceSnapshot { trust, ..resource(vec![text("w://page", "", "words")]) };
    kept(&library, page(DocumentTrust::Untrusted)).await;
    assert_eq!(
        kept(&library, page(DocumentTrust::Trusted)).await.outcome,
        ResourceCompileOutcome::Changed
    );
    let card = library.find_document(&resource_key("wiki", "w://page")).await.unwrap().unwrap();
    assert_eq!(card.trust, DocumentTrust::Trusted);
}

#[tokio::test]
async fn parts_stand_in_order_under_their_own_names() {
    let (_folder, library) = library().await;
    let parts = vec![
        text("w://page", "text/markdown", "# First\n\nalpha\n"),
        blob("w://page/b.txt", "text/plain", b"beta \xff"),
        blob("w://page/c.png", "image/png", &[0x89, 0, 1]),
        text("w://page/d", "text/html", "<h1>Fourth</h1><p>delta</p>"),
    ];
    let compiled =
        kept(&library, ResourceSnapshot { name: Some("All".into()), ..resource(parts) }).await;
    assert_eq!((compiled.title.as_str(), compiled.parts), ("All", 4));
    let remarks: Vec<_> = compiled.remarks.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(remarks, ["w://page/b.txt", "w://page/c.png"], "{:?}", compiled.remarks);
    let passages = library.document_passages(&compiled.key).await.unwrap();
    let found: Vec<_> = passages.iter().map(|it| it.heading.as_str()).collect();
    assert!(found[0].starts_with("First"), "{found:?}");
    assert!(found.iter().any(|it| it.starts_with("w://page/b.txt")), "{found:?}");
    assert!(found.iter().any(|it| it.starts_with("w://page/d > Fourth")), "{found:?}");
    let text: String = passages.iter().map(|it| it.text.as_str()).collect();
    let at = |word: &str| text.find(word).unwrap();
    assert!(at("alpha") < at("beta") && at("beta") < at("delta"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_read_leaves_what_was_there() {
    let (_folder, library) = library().await;
    kept(&library, resource(vec![text("w://page", "", "words")])).await;
    for part in [blob("w://page", "image/png", &[0]), blob("w://page", "application/pdf", b"%PDF")]
    {
        let failed = compile(&library, &PdfReader::disabled(), resource(vec![part])).await;
        assert!(matches!(failed, Err(ContextError::Text { .. })), "{failed:?}");
    }
    assert_eq!(
        library.document_passages(&resource_key("wiki", "w://page")).await.unwrap()[0].text,
        "words"
    );
    // What says nothing any more is not left standing.
    for parts in [vec![], vec![text("w://page", "", "")]] {
        assert_eq!(kept(&library, resource(parts)).await.passages, 0);
        assert!(
            library.document_passages(&resource_key("wiki", "w://page")).await.unwrap().is_empty()
        );
    }
}

#[test]
fn the_digest_is_of_everything_that_is_read() {
    let parts = [
        vec![],
        vec![text("w://a", "text/plain", "ab")],
        vec![text("w://a", "text/html", "ab")],
        vec![text("w://b", "text/plain", "ab")],
        vec![blob("w://a", "text/plain", b"ab")],
        vec![text("w://a", "text/plain", "a"), text("w://a", "text/plain", "b")],
    ];
    let digests: std::collections::HashSet<_> = parts.iter().map(|parts| digest(parts)).collect();
    assert_eq!(digests.len(), parts.len());
}
