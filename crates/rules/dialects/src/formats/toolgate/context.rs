//! Reads and writes the settings of the local context: `[context]`.

use std::path::PathBuf;

use toolgate_model::{ConfigValue, ContextNamingStyle, ContextOfferMode};

use super::write::set_fields;
use crate::common::TableFields;
use crate::{FileContextSettings, LocatedValue};

pub(super) fn read(top: &mut TableFields<'_>) -> FileContextSettings {
    let offers = ContextOfferMode::ALL.map(|it| (it.as_str(), it));
    let names = ContextNamingStyle::ALL.map(|it| (it.as_str(), it));
    let read = top.with_table("context", |inner| FileContextSettings {
        offer: inner.located("offer", |it, key| it.choice(key, &offers)),
        names: inner.located("names", |it, key| it.choice(key, &names)),
        folders: inner.located("folders", paths),
        trusted: inner.located("trusted", paths),
    });
    read.unwrap_or_default()
}

fn paths(fields: &mut TableFields<'_>, key: &'static str) -> Option<Vec<PathBuf>> {
    Some(fields.texts(key)?.into_iter().map(Into::into).collect())
}

pub(super) fn write(context: &FileContextSettings) -> Vec<(String, ConfigValue)> {
    let FileContextSettings { offer, names, folders, trusted } = context;
    let paths = |paths: &LocatedValue<Vec<PathBuf>>| {
        ConfigValue::texts(paths.value.iter().map(|path| path.to_string_lossy()))
    };
    set_fields([
        ("offer", offer.map(|it| ConfigValue::text(it.value.as_str()))),
        ("names", names.map(|it| ConfigValue::text(it.value.as_str()))),
        ("folders", folders.as_ref().map(paths)),
        ("trusted", trusted.as_ref().map(paths)),
    ])
}
