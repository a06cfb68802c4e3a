//! The ONNX protobuf messages that a decoder graph needs, and a builder that writes weights beside the graph.
//!
//! Field numbers: onnx.proto of ONNX 1.17. Weights go to one external data file, so that neither this program nor
//! the runtime holds them twice.

use std::io::{self, Write};

use prost::Message;

pub(super) const FLOAT: i32 = 1;
pub(super) const UINT8: i32 = 2;
pub(super) const INT32: i32 = 6;
pub(super) const INT64: i32 = 7;

/// Domain of ONNX Runtime's own operators.
pub(super) const MICROSOFT: &str = "com.microsoft";

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(int32, tag = "20")]
    pub(super) kind: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringStringEntryProto>,
    #[prost(int32, tag = "14")]
    pub(super) data_location: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_type: Option<TensorTypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorTypeProto {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) dim_param: Option<String>,
}

/// A dimension of an input or output.
pub(super) enum Dim {
    Fixed(usize),
    Named(&'static str),
}

/// An attribute of a node.
pub(super) enum Attribute {
    Integer(&'static str, i64),
    Float(&'static str, f32),
}

/// Builds a graph and streams its weights.
pub(super) struct Graph<W> {
    proto: GraphProto,
    data: W,
    data_name: String,
    written: u64,
    names: u32,
}

impl<W: Write> Graph<W> {
    /// A graph whose weights go to `data`, a file called `data_name` beside the graph.
    pub(super) fn new(name: &str, data: W, data_name: &str) -> Self {
        let proto = GraphProto { name: name.to_owned(), ..GraphProto::default() };
        Self { proto, data, data_name: data_name.to_owned(), written: 0, names: 0 }
    }

    fn info(name: &str, elem_type: i32, dims: &[Dim]) -> ValueInfoProto {
        let dim = dims
            .iter()
            .map(|dim| match dim {
                Dim::Fixed(size) => Dimension { dim_value: Some(*size as i64), dim_param: None },
                Dim::Named(name) => Dimension { dim_value: None, dim_param: Some((*name).to_owned()) },
            })
            .collect();
        let tensor_type = Some(TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) });
        ValueInfoProto { name: name.to_owned(), kind: Some(TypeProto { tensor_type }) }
    }

    pub(super) fn input(&mut self, name: &str, elem_type: i32, dims: &[Dim]) {
        self.proto.input.push(Self::info(name, elem_type, dims));
    }

    pub(super) fn output(&mut self, name: &str, elem_type: i32, dims: &[Dim]) {
        self.proto.output.push(Self::info(name, elem_type, dims));
    }

    /// Writes weights to the data file and declares them.
    pub(super) fn weights(
        &mut self,
        name: &str,
        data_type: i32,
        dims: &[usize],
        bytes: &[u8],
    ) -> io::Result<String> {
        // Page alignment lets the runtime map the file.
        let start = self.written.next_multiple_of(4096);
        let padding = vec![0; (start - self.written) as usize];
        self.data.write_all(&padding)?;
        self.data.write_all(bytes)?;
        self.written = start + bytes.len() as u64;
        let entry = |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
        self.proto.initializer.push(TensorProto {
            dims: dims.iter().map(|dim| *dim as i64).collect(),
            data_type,
            name: name.to_owned(),
            raw_data: None,
            external_data: vec![
                entry("location", self.data_name.clone()),
                entry("offset", start.to_string()),
                entry("length", bytes.len().to_string()),
            ],
            data_location: 1,
        });
        Ok(name.to_owned())
    }

    /// A small constant inside the graph.
    pub(super) fn constant(&mut self, name: &str, values: &[i64], scalar: bool) -> String {
        self.proto.initializer.push(TensorProto {
            dims: if scalar { Vec::new() } else { vec![values.len() as i64] },
            data_type: INT64,
            name: name.to_owned(),
            raw_data: Some(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            external_data: Vec::new(),
            data_location: 0,
        });
        name.to_owned()
    }

    /// Adds a node with one output and returns that output's name.
    pub(super) fn node(
        &mut self,
        op: &str,
        domain: &str,
        inputs: &[&str],
        attributes: &[Attribute],
    ) -> String {
        self.names += 1;
        let output = format!("{}_{}", op.to_lowercase(), self.names);
        self.node_to(op, domain, inputs, &[&output], attributes);
        output
    }

    /// Adds a node with named outputs.
    pub(super) fn node_to(
        &mut self,
        op: &str,
        domain: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[Attribute],
    ) {
        let attribute = attributes
            .iter()
            .map(|attribute| match attribute {
                Attribute::Integer(name, value) => {
                    AttributeProto { name: (*name).to_owned(), i: Some(*value), f: None, kind: 2 }
                }
                Attribute::Float(name, value) => {
                    AttributeProto { name: (*name).to_owned(), f: Some(*value), i: None, kind: 1 }
                }
            })
            .collect();
        self.proto.node.push(NodeProto {
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: outputs.iter().map(|name| (*name).to_owned()).collect(),
            name: format!("{op}_{}", self.proto.node.len()),
            op_type: op.to_owned(),
            attribute,
            domain: domain.to_owned(),
        });
    }

    /// Ends the data file and returns the encoded model.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.data.flush()?;
        let opset = |domain: &str, version| OperatorSetIdProto { domain: domain.to_owned(), version };
        let model = ModelProto {
            ir_version: 9,
            producer_name: "skillc".to_owned(),
            graph: Some(self.proto),
            opset_import: vec![opset("", 18), opset(MICROSOFT, 1)],
        };
        Ok(model.encode_to_vec())
    }
}
