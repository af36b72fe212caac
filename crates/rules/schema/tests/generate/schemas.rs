//! Schemas as tools have them, and as they should not have them.

use serde_json::{Map, Value, json};

use super::{Dice, PATTERNS};

const NAMES: &[&str] = &[
    "path",
    "name",
    "mode",
    "type",
    "items",
    "properties",
    "$ref",
    "a/b",
    "x~y",
    "filter[id]",
    "enum",
    "größe",
    "default",
    "count",
];

/// How a schema is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Draft4,
    Draft7,
    Modern,
}

struct Maker<'d> {
    dice: &'d mut Dice,
    dialect: Dialect,
    defs: usize,
    /// Definitions that may be referred to in place: only later ones, so that no circle closes.
    later: usize,
    closed: bool,
    left: usize,
}

/// An input schema. Greater sizes make greater schemas.
pub fn input(dice: &mut Dice, size: usize) -> Value {
    let dialect = match dice.below(10) {
        0 => Dialect::Draft4,
        1 | 2 => Dialect::Draft7,
        _ => Dialect::Modern,
    };
    let defs = if dice.percent(40) { 1 + dice.below(3) } else { 0 };
    // Most servers write all their objects one way.
    let closed = dice.percent(50);
    let mut maker = Maker { dice, dialect, defs, later: 0, closed, left: 4 + size };
    let mut root = maker.object(size.min(4));
    maker.root_extras(&mut root);
    let mut all = Map::new();
    for index in 0..defs {
        maker.later = index + 1;
        all.insert(format!("d{index}"), maker.schema(2));
    }
    if defs > 0 {
        let keyword = if dialect == Dialect::Modern { "$defs" } else { "definitions" };
        root.insert(keyword.to_owned(), Value::Object(all));
    }
    let name = match dialect {
        Dialect::Draft4 => Some("http://json-schema.org/draft-04/schema#"),
        Dialect::Draft7 => Some("http://json-schema.org/draft-07/schema#"),
        Dialect::Modern if maker.dice.percent(30) => {
            Some("https://json-schema.org/draft/2020-12/schema")
        }
        Dialect::Modern => None,
    };
    if let Some(name) = name {
        root.insert("$schema".to_owned(), name.into());
    }
    Value::Object(root)
}

impl Maker<'_> {
    fn root_extras(&mut self, root: &mut Map<String, Value>) {
        if self.dice.percent(10) {
            root.remove("type");
        }
        let branch = |maker: &mut Self| match maker.dice.below(3) {
            0 => json!({ "required": [*maker.dice.pick(NAMES)] }),
            1 => Value::Object(maker.object(1)),
            _ if maker.defs > 0 => maker.reference(),
            _ => Value::Object(maker.object(1)),
        };
        let closed = self.closed;
        if self.dice.percent(25) {
            let keyword = *self.dice.pick(&["anyOf", "oneOf", "allOf"]);
            if self.dice.percent(70) {
                root.remove("additionalProperties");
                root.remove("unevaluatedProperties");
                self.closed = keyword != "allOf" && self.dice.percent(50);
            }
            let count = 1 + self.dice.below(3);
            let all: Vec<Value> = (0..count).map(|_| branch(self)).collect();
            root.insert(keyword.to_owned(), all.into());
        }
        self.closed = closed;
        if self.defs > 0 && self.dice.percent(5) {
            *root = Map::from_iter([("$ref".to_owned(), json!("#/$defs/d0"))]);
            if self.dialect != Dialect::Modern {
                root.insert("$ref".to_owned(), json!("#/definitions/d0"));
            }
        }
    }

    fn reference(&mut self) -> Value {
        let index = self.later + self.dice.below(self.defs.saturating_sub(self.later).max(1));
        self.reference_to(index.min(self.defs - 1))
    }

    fn reference_to(&mut self, index: usize) -> Value {
        let keyword = if self.dialect == Dialect::Modern { "$defs" } else { "definitions" };
        let mut out = json!({ "$ref": format!("#/{keyword}/d{index}") });
        if self.dice.percent(20) {
            out["description"] = "what it is for".into();
        }
        out
    }

    /// A schema that stands below a member or an array: any reference is fine there.
    fn below(&mut self, depth: usize) -> Value {
        if self.defs > 0 && self.dice.percent(15) {
            let index = self.dice.below(self.defs);
            return self.reference_to(index);
        }
        if self.dice.percent(2) {
            return json!({ "$ref": "#" });
        }
        self.schema(depth)
    }

    fn schema(&mut self, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        let depth = if self.left == 0 { 0 } else { depth };
        let mut schema = match self.dice.below(if depth == 0 { 10 } else { 20 }) {
            0..=3 => self.text(),
            4 | 5 => self.number(),
            6 => Map::from_iter([("type".to_owned(), json!("boolean"))]),
            7 => self.values(),
            8 => self.odd(),
            9 => self.several_types(),
            10..=12 => self.object(depth - 1),
            13..=15 => self.array(depth - 1),
            16 | 17 => self.alternatives(depth - 1),
            18 => self.together(depth - 1),
            _ => self.conditional(depth - 1),
        };
        if self.dice.percent(30) {
            schema.insert("description".to_owned(), "a few words".into());
        }
        if self.dice.percent(10) {
            schema.insert("default".to_owned(), json!(null));
        }
        if self.dice.percent(5) {
            schema.insert("title".to_owned(), "Title".into());
        }
        if self.dialect != Dialect::Draft4 && self.dice.percent(2) {
            return Value::Bool(self.dice.percent(70));
        }
        Value::Object(schema)
    }

    fn text(&mut self) -> Map<String, Value> {
        let mut schema = Map::from_iter([("type".to_owned(), json!("string"))]);
        match self.dice.below(8) {
            0 => _ = schema.insert("pattern".to_owned(), self.dice.pick(PATTERNS).0.into()),
            1 => _ = schema.insert("minLength".to_owned(), self.dice.below(4).into()),
            2 => _ = schema.insert("maxLength".to_owned(), (2 + self.dice.below(4)).into()),
            3 => {
                let formats = ["uri", "date-time", "email", "path", "int64"];
                schema.insert("format".to_owned(), (*self.dice.pick(&formats)).into());
            }
            _ => {}
        }
        schema
    }

    fn number(&mut self) -> Map<String, Value> {
        let name = *self.dice.pick(&["integer", "number"]);
        let mut schema = Map::from_iter([("type".to_owned(), json!(name))]);
        let low: Value =
            if self.dice.percent(70) { self.dice.below(5).into() } else { json!(-1.5) };
        let high: Value = (6 + self.dice.below(5)).into();
        for (bound, exclusive, value) in
            [("minimum", "exclusiveMinimum", low), ("maximum", "exclusiveMaximum", high)]
        {
            match self.dice.below(6) {
                0 => _ = schema.insert(bound.to_owned(), value),
                1 if self.dialect == Dialect::Draft4 => {
                    schema.insert(bound.to_owned(), value);
                    schema.insert(exclusive.to_owned(), self.dice.percent(60).into());
                }
                1 => _ = schema.insert(exclusive.to_owned(), value),
                _ => {}
            }
        }
        if self.dice.percent(10) {
            schema.insert("multipleOf".to_owned(), json!(2));
        }
        schema
    }

    fn values(&mut self) -> Map<String, Value> {
        let sets = [
            json!(["r", "w", "rw"]),
            json!(["a", null]),
            json!([1, 2, 4]),
            json!(["", "x"]),
            json!(["a", 1, true]),
            json!([true]),
            json!([{ "a": 1 }, []]),
        ];
        let mut schema = Map::new();
        let set = self.dice.pick(&sets).clone();
        if self.dialect != Dialect::Draft4 && self.dice.percent(20) {
            schema.insert("const".to_owned(), set[0].clone());
        } else {
            if set[0].is_string() && self.dice.percent(50) {
                schema.insert("type".to_owned(), json!("string"));
            }
            schema.insert("enum".to_owned(), set);
        }
        schema
    }

    fn odd(&mut self) -> Map<String, Value> {
        let odd = [
            json!({}),
            json!({ "description": "anything at all" }),
            json!({ "type": "object" }),
            json!({ "type": "array" }),
            json!({ "type": "null" }),
            json!({ "minimum": 3, "maxLength": 2 }),
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            json!({ "type": "object", "additionalProperties": true }),
            json!({ "type": "object", "patternProperties": { "^x-": { "type": "string" } },
                "additionalProperties": false }),
            json!({ "not": { "type": "string" } }),
        ];
        self.dice.pick(&odd).as_object().cloned().unwrap()
    }

    fn several_types(&mut self) -> Map<String, Value> {
        let sets = [
            json!(["string", "null"]),
            json!(["integer", "null"]),
            json!(["string", "number", "boolean"]),
            json!(["object", "null"]),
            json!(["array", "string"]),
        ];
        Map::from_iter([("type".to_owned(), self.dice.pick(&sets).clone())])
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        let mut properties = Map::new();
        for _ in 0..self.dice.below(5) {
            let name = *self.dice.pick(NAMES);
            properties.insert(name.to_owned(), self.below(depth));
        }
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        let mut required: Vec<Value> = Vec::new();
        for name in properties.keys() {
            if self.dice.percent(40) {
                required.push(name.as_str().into());
            }
        }
        if self.dice.percent(3) && !required.contains(&json!("count")) {
            required.push("count".into());
        }
        let closed = if self.dice.percent(85) { self.closed } else { !self.closed };
        match self.dice.below(12) {
            0 => _ = schema.insert("additionalProperties".to_owned(), self.below(0)),
            1 if self.dialect == Dialect::Modern => {
                schema.insert("unevaluatedProperties".to_owned(), false.into());
            }
            _ if closed => _ = schema.insert("additionalProperties".to_owned(), false.into()),
            _ => {}
        }
        self.object_extras(&mut schema, &properties);
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }

    fn object_extras(&mut self, schema: &mut Map<String, Value>, properties: &Map<String, Value>) {
        let names: Vec<&String> = properties.keys().collect();
        match self.dice.below(30) {
            0 => _ = schema.insert("minProperties".to_owned(), 1.into()),
            1 => _ = schema.insert("maxProperties".to_owned(), 3.into()),
            2 if self.dialect != Dialect::Draft4 => {
                schema.insert("propertyNames".to_owned(), json!({ "maxLength": 6 }));
            }
            3 if names.len() > 1 => {
                let keyword = match self.dialect {
                    Dialect::Modern => "dependentRequired",
                    _ => "dependencies",
                };
                schema.insert(keyword.to_owned(), json!({ names[0]: [names[1]] }));
            }
            4 if names.len() > 1 && self.dialect != Dialect::Modern => {
                let inner = json!({ names[0]: { "required": [names[1]] } });
                schema.insert("dependencies".to_owned(), inner);
            }
            _ => {}
        }
    }

    fn array(&mut self, depth: usize) -> Map<String, Value> {
        let mut schema = Map::from_iter([("type".to_owned(), json!("array"))]);
        let tuple = self.dice.percent(15);
        let several: Vec<Value> = (0..2).map(|_| self.below(depth)).collect();
        match (tuple, self.dialect) {
            (false, _) => _ = schema.insert("items".to_owned(), several[0].clone()),
            (true, Dialect::Modern) => {
                schema.insert("prefixItems".to_owned(), several.into());
                match self.dice.below(3) {
                    0 => _ = schema.insert("items".to_owned(), false.into()),
                    1 => _ = schema.insert("items".to_owned(), self.below(0)),
                    _ => {}
                }
            }
            (true, _) => {
                schema.insert("items".to_owned(), several.into());
                if self.dice.percent(50) {
                    schema.insert("additionalItems".to_owned(), false.into());
                }
            }
        }
        match self.dice.below(12) {
            0 => _ = schema.insert("minItems".to_owned(), 1.into()),
            1 => _ = schema.insert("maxItems".to_owned(), 2.into()),
            2 => _ = schema.insert("uniqueItems".to_owned(), true.into()),
            3 if self.dialect != Dialect::Draft4 => {
                schema.insert("contains".to_owned(), self.below(0));
            }
            _ => {}
        }
        schema
    }

    fn alternatives(&mut self, depth: usize) -> Map<String, Value> {
        let keyword = *self.dice.pick(&["anyOf", "oneOf"]);
        let mut all: Vec<Value> = (0..=self.dice.below(3)).map(|_| self.schema(depth)).collect();
        if self.dice.percent(40) {
            all.push(json!({ "type": "null" }));
        }
        if self.later < self.defs && self.dice.percent(20) {
            all.push(self.reference());
        }
        let mut schema = Map::from_iter([(keyword.to_owned(), all.into())]);
        if self.dice.percent(10) {
            schema.extend(self.object(0));
        }
        schema
    }

    fn together(&mut self, depth: usize) -> Map<String, Value> {
        let mut all: Vec<Value> = Vec::new();
        // Closed objects that hold together seldom leave anything to fit.
        let closed = std::mem::replace(&mut self.closed, self.dice.percent(20));
        for _ in 0..=self.dice.below(2) {
            let one = self.object(depth);
            all.push(Value::Object(one));
        }
        self.closed = closed;
        if self.later < self.defs && self.dice.percent(30) {
            all.push(self.reference());
        }
        Map::from_iter([("allOf".to_owned(), all.into())])
    }

    fn conditional(&mut self, depth: usize) -> Map<String, Value> {
        let mut schema = self.object(depth);
        if self.dialect == Dialect::Modern || self.dialect == Dialect::Draft7 {
            let name = *self.dice.pick(NAMES);
            schema.insert("if".to_owned(), json!({ "required": [name] }));
            schema.insert("then".to_owned(), json!({ "required": ["count"] }));
            schema.insert("else".to_owned(), json!({ "maxProperties": 4 }));
        }
        if self.dice.percent(30) {
            schema.insert("not".to_owned(), json!({ "required": ["mode", "path"] }));
        }
        schema
    }
}
