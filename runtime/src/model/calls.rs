//! Forms in which models write tool calls: how a call looks, the grammar that admits only offered ones, and how a
//! finished one is read.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::artifact::{Parameter, ParameterType, ToolDeclaration};
use crate::router::OpeningCall;

/// Most characters of a text argument: a model that does not end would fill the context with one.
const LONGEST_TEXT: usize = 300;
/// Most entries of a list.
const LONGEST_LIST: usize = 16;
/// Most digits on either side of a number's point.
const MOST_DIGITS: usize = 15;

/// How a model writes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFormat {
    /// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, as Hermes and Qwen 2.5 do.
    Hermes,
    /// `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`.
    Xml,
    /// `{"name": …, "arguments": {…}}` as the whole reply.
    Json,
}

/// The form of a model, and what its files say that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallForm {
    /// The form.
    pub format: CallFormat,
    /// Why it is not the one that the chat template has.
    pub remark: Option<String>,
}

/// Marks of forms that templates have and that are not supported.
const OTHER_FORMS: [&str; 5] =
    ["[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>", "<start_function_call>", "<|channel|>"];

impl CallForm {
    /// Reads it off a chat template with a place for tools, or off the tool block of the model's profile.
    #[must_use]
    pub fn of(template: &str, template_takes_tools: bool, tool_block: Option<&str>) -> Self {
        let source = if template_takes_tools { template } else { tool_block.unwrap_or_default() };
        let format = match source {
            _ if source.contains("<function=") => CallFormat::Xml,
            _ if source.contains("<tool_call>") => CallFormat::Hermes,
            _ => CallFormat::Json,
        };
        let other = OTHER_FORMS.into_iter().find(|mark| source.contains(mark));
        let remark = match (format, other) {
            (CallFormat::Json, Some(mark)) => Some(format!(
                "its chat template writes calls with `{mark}`, which is not supported: calls are plain JSON"
            )),
            (CallFormat::Json, None) if template_takes_tools => {
                Some("its chat template shows no form of a call: calls are plain JSON".to_owned())
            }
            _ if !template_takes_tools && tool_block.is_none() => Some(
                "its chat template has no place for tools and profile.json no `tool_block`: it cannot be told of tools"
                    .to_owned(),
            ),
            _ => None,
        };
        Self { format, remark }
    }
}

impl CallFormat {
    /// What a call begins with.
    #[must_use]
    pub fn start(self) -> &'static str {
        match self {
            Self::Hermes | Self::Xml => "<tool_call>",
            Self::Json => "{\"name\":",
        }
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hermes => "JSON in <tool_call>",
            Self::Xml => "XML in <tool_call>",
            Self::Json => "plain JSON",
        }
    }

    /// A call as the model would write it.
    #[must_use]
    pub fn markup(self, tool: &str, arguments: &Map<String, Value>) -> String {
        let call = || json!({"name": tool, "arguments": arguments});
        match self {
            Self::Hermes => format!("<tool_call>{}</tool_call>", call()),
            Self::Json => call().to_string(),
            Self::Xml => {
                let mut text = format!("<tool_call>\n<function={tool}>\n");
                for (name, value) in arguments {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    // Writing to a string does not fail.
                    let _ = write!(text, "<parameter={name}>\n{value}\n</parameter>\n");
                }
                text + "</function>\n</tool_call>"
            }
        }
    }

    /// A grammar (llguidance's Lark) of exactly one call of one of the tools, behind `before`.
    #[must_use]
    pub fn grammar(self, tools: &[ToolDeclaration], before: &str) -> String {
        let names: Vec<String> = (0..tools.len()).map(|number| format!("call{number}")).collect();
        let before = if before.is_empty() { String::new() } else { format!("{} ", quoted(before)) };
        let mut grammar = format!("start: {before}({})\n", names.join(" | "));
        for (number, tool) in tools.iter().enumerate() {
            let rule = match self {
                Self::Hermes => format!("\"<tool_call>\" WS? {} WS? \"</tool_call>\"", json_call(tool)),
                Self::Json => json_call(tool),
                Self::Xml => xml_call(tool),
            };
            // Writing to a string does not fail.
            let _ = writeln!(grammar, "call{number}: {rule}");
        }
        let _ = write!(
            grammar,
            "WS: /[ \\n]{{1,2}}/\n\
             STRING: /\"([^\"\\\\\\x00-\\x1F]|\\\\[\"\\\\\\/nt]){{1,{LONGEST_TEXT}}}\"/\n\
             TEXT: /[^<]{{1,{LONGEST_TEXT}}}/\n\
             URL: /https?:\\/\\/[^ \"\\\\<>\\x00-\\x1F]{{1,{LONGEST_TEXT}}}/\n\
             DATE: /[0-9]{{4}}-[01][0-9]-[0-3][0-9]/\n\
             NUMBER: /-?(0|[1-9][0-9]{{0,{MOST_DIGITS}}})(\\.[0-9]{{1,{MOST_DIGITS}}})?/\n\
             BOOLEAN: \"true\" | \"false\"\n"
        );
        grammar
    }

    /// Reads a call that the grammar admitted. None if it is cut off or names no tool of these.
    #[must_use]
    pub fn read(self, text: &str, tools: &[ToolDeclaration]) -> Option<OpeningCall> {
        let text = text.trim();
        let inner = match self {
            Self::Json => text,
            Self::Hermes | Self::Xml => {
                text.strip_prefix("<tool_call>")?.strip_suffix("</tool_call>")?.trim()
            }
        };
        let (tool, arguments) = match self {
            Self::Xml => xml_parts(inner, tools)?,
            Self::Hermes | Self::Json => {
                let mut call: Map<String, Value> = serde_json::from_str(inner).ok()?;
                let Some(Value::Object(arguments)) = call.remove("arguments") else { return None };
                (call.get("name")?.as_str()?.to_owned(), arguments)
            }
        };
        tools.iter().any(|known| known.name == tool).then_some(OpeningCall { tool, arguments })
    }
}

/// A literal of a grammar.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The rule of a call in JSON: `{"name": NAME, "arguments": {…}}`, required arguments first.
fn json_call(tool: &ToolDeclaration) -> String {
    let argument = |parameter: &Parameter| {
        let key = quoted(&format!("{}: ", quoted(&parameter.name)));
        let value = match &parameter.kind {
            ParameterType::Number => "NUMBER".to_owned(),
            ParameterType::Boolean => "BOOLEAN".to_owned(),
            ParameterType::Date => "\"\\\"\" DATE \"\\\"\"".to_owned(),
            ParameterType::Url => "\"\\\"\" URL \"\\\"\"".to_owned(),
            ParameterType::OneOf(values) => one_of(values.iter().map(|value| quoted(value))),
            ParameterType::Json => json_value(parameter),
            ParameterType::Text | ParameterType::Place => "STRING".to_owned(),
        };
        format!("{key} {value}")
    };
    let (optional, required): (Vec<&Parameter>, Vec<&Parameter>) =
        tool.parameters.iter().partition(|parameter| is_optional(parameter));
    let required: Vec<String> = required.into_iter().map(argument).collect();
    let optional: Vec<String> = optional.into_iter().map(argument).collect();
    let further = |from: usize| -> String {
        optional.iter().skip(from).map(|argument| format!(" (\", \" {argument})?")).collect()
    };
    let arguments = if required.is_empty() {
        let firsts = optional.iter().enumerate().map(|(at, first)| format!("{first}{}", further(at + 1)));
        let firsts: Vec<String> = firsts.collect();
        if firsts.is_empty() { String::new() } else { format!("({})?", firsts.join(" | ")) }
    } else {
        required.join(" \", \" ") + &further(0)
    };
    let open = quoted(&format!("{{\"name\": {}, \"arguments\": {{", quoted(&tool.name)));
    format!("{open} {arguments} \"}}}}\"")
}

/// The rule of a call in XML, arguments in the order of their declaration.
fn xml_call(tool: &ToolDeclaration) -> String {
    let mut rule = format!("\"<tool_call>\" WS? {} WS?", quoted(&format!("<function={}>", tool.name)));
    for parameter in &tool.parameters {
        let value = match &parameter.kind {
            ParameterType::Number => "WS? NUMBER WS?".to_owned(),
            ParameterType::Boolean => "WS? BOOLEAN WS?".to_owned(),
            ParameterType::Date => "WS? DATE WS?".to_owned(),
            ParameterType::Url => "WS? URL WS?".to_owned(),
            ParameterType::OneOf(values) => format!("WS? {} WS?", one_of(values.iter().cloned())),
            ParameterType::Json => format!("WS? {} WS?", json_value(parameter)),
            // A text takes the white space around it.
            ParameterType::Text | ParameterType::Place => "TEXT".to_owned(),
        };
        let open = quoted(&format!("<parameter={}>", parameter.name));
        let part = format!("{open} {value} \"</parameter>\" WS?");
        let _ = if is_optional(parameter) { write!(rule, " ({part})?") } else { write!(rule, " {part}") };
    }
    rule + " \"</function>\" WS? \"</tool_call>\""
}

fn one_of(values: impl Iterator<Item = String>) -> String {
    format!("({})", values.map(|value| quoted(&value)).collect::<Vec<_>>().join(" | "))
}

/// The rule of a value that its schema describes.
fn json_value(parameter: &Parameter) -> String {
    let mut schema = parameter.schema.clone().unwrap_or_else(|| json!({}));
    bound(&mut schema);
    if let Value::Object(fields) = &mut schema {
        // A model that likes blanks would write nothing else.
        fields.insert("x-guidance".to_owned(), json!({"whitespace_pattern": "[ \\n]?"}));
    }
    format!("%json {schema}")
}

/// Gives texts and lists of a schema an end where they have none.
fn bound(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        if let Value::Array(schemas) = schema {
            schemas.iter_mut().for_each(bound);
        }
        return;
    };
    let (end, longest, other) = match fields.get("type").and_then(Value::as_str) {
        Some("string") => ("maxLength", LONGEST_TEXT, ["pattern", "format", "enum", "const"]),
        Some("array") => ("maxItems", LONGEST_LIST, ["enum", "const", "minItems", "prefixItems"]),
        _ => ("", 0, [""; 4]),
    };
    if !end.is_empty() && !fields.contains_key(end) && !other.iter().any(|key| fields.contains_key(*key)) {
        fields.insert(end.to_owned(), longest.into());
    }
    for key in ["items", "properties", "$defs", "definitions", "anyOf", "oneOf", "allOf", "prefixItems"] {
        match fields.get_mut(key) {
            // Names stand for schemas there.
            Some(Value::Object(named)) if !matches!(key, "items") => named.values_mut().for_each(bound),
            Some(inner) => bound(inner),
            None => {}
        }
    }
}

fn is_optional(parameter: &Parameter) -> bool {
    parameter.optional || parameter.default.is_some()
}

fn xml_parts(inner: &str, tools: &[ToolDeclaration]) -> Option<(String, Map<String, Value>)> {
    let (name, mut rest) = inner.strip_prefix("<function=")?.split_once('>')?;
    let tool = tools.iter().find(|known| known.name == name)?;
    let mut arguments = Map::new();
    while let Some((_, open)) = rest.split_once("<parameter=") {
        let (key, behind) = open.split_once('>')?;
        let (value, after) = behind.split_once("</parameter>")?;
        let value = value.trim();
        let kind = tool.parameters.iter().find(|parameter| parameter.name == key).map(|p| &p.kind);
        let value = match kind {
            Some(ParameterType::Number | ParameterType::Boolean | ParameterType::Json) => {
                serde_json::from_str(value).ok()?
            }
            _ => Value::from(value),
        };
        arguments.insert(key.to_owned(), value);
        rest = after;
    }
    Some((name.to_owned(), arguments))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::artifact::ToolOrigin;

    pub(crate) fn tools() -> Vec<ToolDeclaration> {
        let parameter = |name: &str, kind: ParameterType, optional: bool| Parameter {
            name: name.to_owned(),
            kind,
            optional,
            default: None,
            schema: None,
        };
        let tool = |name: &str, parameters: Vec<Parameter>| ToolDeclaration {
            name: name.to_owned(),
            parameters,
            origin: ToolOrigin::Computed,
            description: String::new(),
        };
        vec![
            tool("calculator", vec![parameter("expression", ParameterType::Text, false)]),
            tool(
                "forecast",
                vec![
                    parameter("place", ParameterType::Place, false),
                    parameter("day", ParameterType::Date, true),
                    parameter("unit", ParameterType::OneOf(vec!["celsius".into(), "\"odd\"".into()]), true),
                    parameter("days", ParameterType::Number, true),
                    parameter("hourly", ParameterType::Boolean, true),
                ],
            ),
            tool("read_page", vec![parameter("url", ParameterType::Url, false)]),
            tool(
                "notes__edit",
                vec![Parameter {
                    schema: Some(json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {
                        "type": "object", "required": ["line"], "additionalProperties": false,
                        "properties": {"line": {"type": "integer", "minimum": 1}, "text": {"type": "string", "maxLength": 20}},
                    }})),
                    ..parameter("edits", ParameterType::Json, false)
                }],
            ),
            tool("now", Vec::new()),
        ]
    }

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn what_a_call_is_written_as_is_read_back() {
        let calls = [
            ("calculator", json!({"expression": "3 < 4 & \"x\"\nß"})),
            ("forecast", json!({"place": "Bad Laer", "unit": "\"odd\"", "days": 2.5, "hourly": true})),
            ("notes__edit", json!({"edits": [{"line": 3, "text": "x"}]})),
            ("now", json!({})),
        ];
        for format in [CallFormat::Hermes, CallFormat::Json, CallFormat::Xml] {
            for (tool, values) in &calls {
                let call = OpeningCall { tool: (*tool).to_owned(), arguments: arguments(values.clone()) };
                let text = format.markup(tool, &call.arguments);
                assert_eq!(format.read(&text, &tools()).as_ref(), Some(&call), "{text}");
                let cut: String = text.chars().take(text.chars().count() - 1).collect();
                assert_eq!(format.read(&cut, &tools()), None, "{cut}");
            }
        }
        let foreign = CallFormat::Hermes.markup("delete_everything", &Map::new());
        assert_eq!(CallFormat::Hermes.read(&foreign, &tools()), None);
    }

    #[test]
    fn the_form_is_read_off_the_template_and_what_is_not_supported_is_said() {
        let of = |template: &str, takes: bool, block: Option<&str>| {
            let form = CallForm::of(template, takes, block);
            (form.format, form.remark.is_some())
        };
        assert_eq!(of("{% if tools %}<tool_call>", true, None), (CallFormat::Hermes, false));
        assert_eq!(of("{% if tools %}<tool_call><function=", true, None), (CallFormat::Xml, false));
        assert_eq!(of("{% if tools %}[TOOL_CALLS]", true, None), (CallFormat::Json, true));
        assert_eq!(of("{% if tools %}{{ tools }}", true, None), (CallFormat::Json, true));
        assert_eq!(of("", false, Some("write <tool_call>{}")), (CallFormat::Hermes, false));
        assert_eq!(of("", false, Some("write JSON")), (CallFormat::Json, false));
        assert_eq!(of("", false, None), (CallFormat::Json, true));
    }
}
