//! What our own file says of the local context: `[context]`.

use toolgate_model::{ContextNames, Data, Offer};

use crate::frame::Fields;
use crate::{FileContext, Said};

pub(super) fn read(top: &mut Fields<'_, '_, '_>) -> FileContext {
    let read = top.within("context", |inner| {
        let offer = inner.choice("offer", &Offer::ALL.map(|it| (it.as_str(), it)));
        let names = inner.choice("names", &ContextNames::ALL.map(|it| (it.as_str(), it)));
        FileContext {
            offer: inner.said("offer", offer),
            names: inner.said("names", names),
            folders: paths(inner, "folders"),
            trusted: paths(inner, "trusted"),
        }
    });
    read.unwrap_or_default()
}

fn paths(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
) -> Option<Said<Vec<std::path::PathBuf>>> {
    let paths = fields.texts(key).map(|paths| paths.into_iter().map(Into::into).collect());
    fields.said(key, paths)
}

pub(super) fn write(context: &FileContext) -> Vec<(String, Data)> {
    let FileContext { offer, names, folders, trusted } = context;
    let mut fields = Vec::new();
    if let Some(offer) = offer {
        fields.push(("offer".to_owned(), Data::text(offer.value.as_str())));
    }
    if let Some(names) = names {
        fields.push(("names".to_owned(), Data::text(names.value.as_str())));
    }
    for (key, said) in [("folders", folders), ("trusted", trusted)] {
        if let Some(paths) = said {
            let texts = paths.value.iter().map(|path| path.to_string_lossy().into_owned());
            fields.push((key.to_owned(), Data::texts(texts)));
        }
    }
    fields
}
