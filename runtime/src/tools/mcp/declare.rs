//! A server's tools as declarations: names that calls can have, and parameters as the language has them where their
//! schemas are no more than that.

use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use super::link::said;
use crate::artifact::{Parameter, ParameterType, ToolDeclaration, ToolOrigin};
use crate::model::schema_fault;
use crate::tools::reach::{capped, fenced};

/// Most tools of a server.
const MOST_TOOLS: usize = 128;
/// Most characters of a description.
const LONGEST_DESCRIPTION: usize = 1_000;
/// Most bytes of a parameter's schema.
const LONGEST_SCHEMA: usize = 16 << 10;

/// A tool.
pub(super) struct Offer {
    /// Its name on the server.
    pub(super) name: String,
    /// What it is declared as here.
    pub(super) declaration: ToolDeclaration,
}

/// Declarations of a server's tools, and what of them cannot be used.
pub(super) fn declared(server: &str, tools: &[Tool]) -> (Vec<Offer>, Vec<String>) {
    let mut offers: Vec<Offer> = Vec::new();
    let mut remarks = Vec::new();
    if tools.len() > MOST_TOOLS {
        remarks.push(format!(
            "the MCP server `{server}` has {} tools; the first {MOST_TOOLS} can be used",
            tools.len()
        ));
    }
    for tool in tools.iter().take(MOST_TOOLS) {
        let name = format!("{server}__{}", plain_name(&tool.name));
        let cannot = |why: String| format!("the tool `{name}` cannot be used: {why}");
        if tool.name.trim().is_empty() {
            remarks.push(cannot("it has no name".to_owned()));
            continue;
        }
        if let Some(same) = offers.iter().find(|offer| offer.declaration.name == name) {
            remarks.push(cannot(format!(
                "`{}` and `{}` have the same name here",
                said(&same.name),
                said(&tool.name)
            )));
            continue;
        }
        match parameters(&tool.input_schema) {
            Ok((parameters, loose)) => {
                remarks.extend(loose.into_iter().map(|line| format!("the tool `{name}`: {line}")));
                let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
                let declaration = ToolDeclaration {
                    name,
                    parameters,
                    // Whatever it returns was returned: it counts as evidence until a library says otherwise.
                    origin: ToolOrigin::Computed,
                    description: capped(fenced(description.trim()), LONGEST_DESCRIPTION),
                };
                offers.push(Offer { name: tool.name.to_string(), declaration });
            }
            Err(why) => remarks.push(cannot(why)),
        }
    }
    (offers, remarks)
}

/// A name with letters, digits, _ and - only, as the language and every template can write it.
fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Parameters in the order of the schema, those that a call cannot do without first; and what cannot be held to its
/// schema.
fn parameters(schema: &Map<String, Value>) -> Result<(Vec<Parameter>, Vec<String>), String> {
    let empty = Map::new();
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) => properties,
        None => &empty,
        Some(_) => return Err("its schema is none: `properties` is no object".to_owned()),
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(missing) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(format!("it needs `{}`, which its schema does not describe", said(missing)));
    }
    let mut parameters = Vec::new();
    let mut loose = Vec::new();
    for (name, property) in properties {
        let optional = !required.contains(&name.as_str());
        if name.is_empty() || name.chars().any(|c| c.is_control() || "<>=\"".contains(c)) {
            if optional {
                loose.push(format!("the parameter `{}` cannot be written in a call", said(name)));
                continue;
            }
            return Err(format!("it needs `{}`, which cannot be written in a call", said(name)));
        }
        let whole = with_definitions(property, schema);
        let mut kind = kind(property);
        let mut shown = Some(whole.clone());
        if whole.to_string().len() > LONGEST_SCHEMA {
            loose.push(format!("the schema of `{name}` is too long: any JSON passes there"));
            (kind, shown) = (ParameterType::Json, None);
        } else if kind == ParameterType::Json
            && let Some(fault) = schema_fault(&whole)
        {
            loose.push(format!(
                "`{name}` is not held to its schema ({}): any JSON passes there",
                said(&fault)
            ));
            shown = None;
        }
        parameters.push(Parameter { name: name.clone(), kind, optional, default: None, schema: shown });
    }
    parameters.sort_by_key(|parameter| parameter.optional);
    Ok((parameters, loose))
}

/// The language's type, where the schema says no more than that.
fn kind(property: &Value) -> ParameterType {
    let Some(fields) = property.as_object() else { return ParameterType::Json };
    const SAYS_NO_MORE: [&str; 7] = ["type", "description", "title", "default", "examples", "format", "enum"];
    if fields.keys().any(|key| !SAYS_NO_MORE.contains(&key.as_str())) {
        return ParameterType::Json;
    }
    let values = fields.get("enum").map(|values| values.as_array().into_iter().flatten().map(Value::as_str));
    let values: Option<Option<Vec<String>>> =
        values.map(|values| values.map(|value| value.map(str::to_owned)).collect());
    match (fields.get("type").and_then(Value::as_str), fields.get("format").and_then(Value::as_str), values) {
        (Some("string"), _, Some(Some(values))) if !values.is_empty() => ParameterType::OneOf(values),
        (_, _, Some(_)) => ParameterType::Json,
        (Some("string"), Some("uri" | "url"), None) => ParameterType::Url,
        (Some("string"), Some("date"), None) => ParameterType::Date,
        (Some("string"), None, None) => ParameterType::Text,
        (Some("number"), _, None) => ParameterType::Number,
        (Some("boolean"), _, None) => ParameterType::Boolean,
        _ => ParameterType::Json,
    }
}

/// A parameter's schema with the definitions that it may refer to.
fn with_definitions(property: &Value, schema: &Map<String, Value>) -> Value {
    let mut whole = property.clone();
    if let Value::Object(fields) = &mut whole
        && property.to_string().contains("\"$ref\"")
    {
        for key in ["$defs", "definitions"] {
            if let Some(definitions) = schema.get(key) {
                fields.entry(key).or_insert_with(|| definitions.clone());
            }
        }
    }
    match whole {
        Value::Object(_) => whole,
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(name: &'static str, schema: Value) -> Tool {
        Tool::new(name, "", Arc::new(schema.as_object().cloned().unwrap_or_default()))
    }

    #[test]
    fn parameters_have_types_of_the_language_where_their_schemas_say_no_more() {
        let schema = json!({"type": "object", "required": ["path", "edits"], "properties": {
            "deep": {"type": "integer", "minimum": 0},
            "path": {"type": "string", "description": "Where."},
            "mode": {"type": "string", "enum": ["read", "write"]},
            "site": {"type": "string", "format": "uri"},
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
        }, "$defs": {"edit": {"type": "object", "properties": {"old": {"type": "string"}}}}});
        let (offers, remarks) = declared("files", &[tool("fs.edit", schema)]);
        assert_eq!(remarks, Vec::<String>::new());
        let offer = offers.first().expect("a tool");
        assert_eq!((offer.name.as_str(), offer.declaration.name.as_str()), ("fs.edit", "files__fs_edit"));
        let kinds: Vec<(&str, ParameterType, bool)> = offer
            .declaration
            .parameters
            .iter()
            .map(|parameter| (parameter.name.as_str(), parameter.kind.clone(), parameter.optional))
            .collect();
        assert_eq!(
            kinds,
            [
                ("path", ParameterType::Text, false),
                ("edits", ParameterType::Json, false),
                ("deep", ParameterType::Json, true),
                ("mode", ParameterType::OneOf(vec!["read".into(), "write".into()]), true),
                ("site", ParameterType::Url, true),
            ]
        );
        let edits = offer.declaration.parameters.iter().find(|parameter| parameter.name == "edits");
        let schema = edits.and_then(|parameter| parameter.schema.clone()).expect("a schema");
        assert!(schema.get("$defs").is_some(), "what it refers to comes along: {schema}");
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let odd = [
            tool("", json!({})),
            tool("a b", json!({})),
            tool("a.b", json!({})),
            tool("needs", json!({"required": ["nothing"]})),
            tool("quotes", json!({"required": ["<x>"], "properties": {"<x>": {}}})),
            tool("loose", json!({"properties": {"x": {"type": "array", "items": {"$ref": "#/$defs/none"}}}})),
        ];
        let (offers, remarks) = declared("odd", &odd);
        let names: Vec<&str> = offers.iter().map(|offer| offer.declaration.name.as_str()).collect();
        assert_eq!(names, ["odd__a_b", "odd__loose"]);
        assert_eq!(remarks.len(), 5, "{remarks:#?}");
        assert!(remarks.last().is_some_and(|line| line.contains("any JSON passes")), "{remarks:#?}");
    }
}
