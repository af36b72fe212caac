//! Reads and writes the settings of the local context: `[context]`.

use toolgate_model::{ConfigValue, ContextNamingStyle, ContextOfferMode};

use crate::common::TableFields;
use crate::{FileContext, LocatedValue};

pub(super) fn read(top: &mut TableFields<'_, '_, '_>) -> FileContext {
    let read = top.with_table("context", |inner| {
        let offer = inner.choice("offer", &ContextOfferMode::ALL.map(|it| (it.as_str(), it)));
        let names = inner.choice("names", &ContextNamingStyle::ALL.map(|it| (it.as_str(), it)));
        FileContext {
            offer: inner.with_position("offer", offer),
            names: inner.with_position("names", names),
            folders: paths(inner, "folders"),
            trusted: paths(inner, "trusted"),
        }
    });
    read.unwrap_or_default()
}

fn paths(
    fields: &mut TableFields<'_, '_, '_>,
    key: &'static str,
) -> Option<LocatedValue<Vec<std::path::PathBuf>>> {
    let paths = fields.texts(key).map(|paths| paths.into_iter().map(Into::into).collect());
    fields.with_position(key, paths)
}

pub(super) fn write(context: &FileContext) -> Vec<(String, ConfigValue)> {
    let FileContext { offer, names, folders, trusted } = context;
    let mut fields = Vec::new();
    if let Some(offer) = offer {
        fields.push(("offer".to_owned(), ConfigValue::text(offer.value.as_str())));
    }
    if let Some(names) = names {
        fields.push(("names".to_owned(), ConfigValue::text(names.value.as_str())));
    }
    for (key, said) in [("folders", folders), ("trusted", trusted)] {
        if let Some(paths) = said {
            let texts = paths.value.iter().map(|path| path.to_string_lossy().into_owned());
            fields.push((key.to_owned(), ConfigValue::texts(texts)));
        }
    }
    fields
}
