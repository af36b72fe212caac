//! What must hold of a schema, its adaptations and a thousand argument objects.
//!
//! Shared by the tests of this crate and the end-to-end tests.

mod meaning;
mod strict_form;

use std::fmt;

use jsonschema::Validator;
use serde_json::{Value, json};
use toolgate_schema::{AdaptedSchema, ArgumentValidator, ModelProvider, adapt};
use toolgate_testkit::provider_schemas::check_accepted;

use crate::generate::Dice;
use crate::generate::objects::Objects;
use strict_form::Former;

/// Objects for each schema.
pub const OBJECTS: usize = 1_000;

/// What came by.
#[derive(Debug, Default)]
pub struct Counts {
    pub schemas: usize,
    pub unusable: usize,
    pub barren: usize,
    pub strict: usize,
    pub objects: usize,
    pub fitting: usize,
    pub only_adapted: usize,
    pub losses: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schemas, unusable, barren, strict, objects, fitting, only_adapted, losses } =
            self;
        write!(
            f,
            "{schemas} schemas ({unusable} unusable, {barren} that nothing fitted, {strict} \
             strict), {objects} objects: {fitting} fitted, {only_adapted} times only an adapted \
             schema admitted one; {losses} losses reported"
        )
    }
}

/// An adaptation with what it means.
struct Offer {
    provider: ModelProvider,
    adapted: AdaptedSchema,
    validator: Validator,
}

impl Offer {
    fn is_google(&self) -> bool {
        matches!(self.provider, ModelProvider::Gemini | ModelProvider::Vertex)
    }
}

/// The longest chain of arrays that stand directly in each other.
fn arrays_in_arrays(value: &Value) -> usize {
    fn chain(value: &Value, above: usize, longest: &mut usize) {
        match value {
            Value::Array(list) => {
                *longest = (*longest).max(above + 1);
                list.iter().for_each(|one| chain(one, above + 1, longest));
            }
            Value::Object(map) => map.values().for_each(|one| chain(one, 0, longest)),
            _ => {}
        }
    }
    let mut longest = 0;
    chain(value, 0, &mut longest);
    longest
}

/// Checks one schema with a thousand objects.
pub fn check(schema: &Value, seed: u64, counts: &mut Counts) {
    counts.schemas += 1;
    let definition = json!({ "name": "t", "inputSchema": schema }).to_string();
    let Ok(arguments) = ArgumentValidator::of(definition.as_bytes()) else {
        counts.unusable += 1;
        return;
    };
    let original = jsonschema::options()
        .should_validate_formats(false)
        .build(schema)
        .expect("what is usable can be compiled");
    let offers: Vec<Offer> =
        ModelProvider::ALL.into_iter().map(|provider| offer(schema, provider, counts)).collect();
    let formers: Vec<Former<'_>> =
        offers.iter().map(|offer| Former::of(&offer.adapted.schema)).collect();
    let mut dice = Dice::new(seed ^ 0xABCD);
    let mut objects = Objects::of(schema);
    let mut fitting = 0;
    for _ in 0..OBJECTS {
        counts.objects += 1;
        let object = objects.next(&mut dice);
        let fits = arguments.check(object.to_string().as_bytes());
        assert_eq!(fits.is_ok(), original.is_valid(&object), "{object}\nagainst {schema}");
        fitting += usize::from(fits.is_ok());
        let spelled_out = arrays_in_arrays(&object) <= 4;
        for (offer, former) in offers.iter().zip(&formers) {
            match &fits {
                // Google has no word for arrays of anything; how deep they go is documented.
                Ok(()) if offer.is_google() && !spelled_out => {}
                Ok(()) => admitted(schema, &object, offer, former),
                Err(misfit) if offer.validator.is_valid(&object) => {
                    counts.only_adapted += 1;
                    assert!(!misfit.faults.is_empty(), "no faults: {schema}\n{object}");
                    for fault in misfit.faults.iter().filter(|fault| !fault.is_missing()) {
                        let at = object.pointer(&fault.path);
                        assert!(at.is_some(), "{fault} is nowhere in {object} ({schema})");
                    }
                }
                Err(_) => {}
            }
        }
    }
    counts.fitting += fitting;
    counts.barren += usize::from(fitting == 0);
}

fn offer(schema: &Value, provider: ModelProvider, counts: &mut Counts) -> Offer {
    let adapted = adapt(schema, provider);
    counts.losses += adapted.losses.len();
    counts.strict += usize::from(adapted.strict);
    assert!(!adapted.strict || provider == ModelProvider::OpenAiStrict);
    let judge = match provider {
        ModelProvider::OpenAiStrict if !adapted.strict => ModelProvider::OpenAi,
        other => other,
    };
    if let Err(refused) = check_accepted(&format!("{judge:?}"), &adapted.schema) {
        panic!("{judge:?} refuses {refused:#?}\nof {}\nmade of {schema}", adapted.schema);
    }
    let meant = match provider {
        ModelProvider::Gemini | ModelProvider::Vertex => meaning::of_google(&adapted.schema),
        _ => adapted.schema.clone(),
    };
    let validator = jsonschema::draft202012::options()
        .build(&meant)
        .unwrap_or_else(|error| panic!("{error}: {meant}"));
    Offer { provider, adapted, validator }
}

/// An object that fits the original fits the adapted schema, or has a form that does.
fn admitted(schema: &Value, object: &Value, offer: &Offer, former: &Former<'_>) {
    let Offer { provider, adapted, validator } = offer;
    let tell = |what: &str, form: &Value| {
        let made = &adapted.schema;
        panic!("{provider:?} {what}\n{form}\nof {object}\noriginal {schema}\nadapted {made}")
    };
    let form = match provider {
        ModelProvider::OpenAiStrict if adapted.strict => match former.form(object) {
            Some(form) => form,
            None => tell("has no form", object),
        },
        ModelProvider::Anthropic => meaning::renamed(object, &adapted.schema),
        _ => object.clone(),
    };
    if !validator.is_valid(&form) {
        tell("refuses", &form);
    }
    if adapted.restore(form.clone()) != *object {
        tell("does not restore", &form);
    }
}
