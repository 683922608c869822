//! The contracts' compiled code and interface, as `contracts/build.mjs` writes them. Read once, at
//! startup.

use std::collections::HashMap;

use serde::Deserialize;

use super::abi::{self, Selector};
use super::hex::Hex;

pub(super) const CONTROLLER: &str =
    include_str!("../../../../contracts/artifacts/CorridorController.json");
/// Of installations that began with version 1: its address was given out before it is deployed.
pub(super) const CONTROLLER_1: &str =
    include_str!("../../../../contracts/released/1/CorridorController.json");
pub(super) const VAULT: &str = include_str!("../../../../contracts/artifacts/Vault.json");
pub(super) const SANDBOX_USDC: &str =
    include_str!("../../../../contracts/artifacts/SandboxUsdc.json");
pub(super) const SANDBOX_USDT: &str =
    include_str!("../../../../contracts/artifacts/SandboxUsdt.json");

/// Why an artifact is invalid.
#[derive(Debug, thiserror::Error)]
#[error("artifact: {0}")]
pub struct ArtifactError(String);

/// A contract's code and interface.
#[derive(Deserialize)]
pub(super) struct Artifact {
    abi: Vec<Entry>,
    bytecode: Hex<Vec<u8>>,
}

/// One entry of the ABI.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) inputs: Vec<Parameter>,
    #[cfg(test)]
    #[serde(default)]
    pub(super) outputs: Vec<Parameter>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Parameter {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    components: Vec<Parameter>,
}

impl Parameter {
    /// The type as it appears in signatures: structs are tuples.
    fn canonical(&self) -> String {
        match self.kind.strip_prefix("tuple") {
            Some(array) => format!("({}){array}", list(&self.components)),
            None => self.kind.clone(),
        }
    }
}

impl Entry {
    /// `name(type,type)`, the preimage of selectors and topics.
    pub(super) fn signature(&self) -> String {
        format!("{}({})", self.name, list(&self.inputs))
    }
}

fn list(parameters: &[Parameter]) -> String {
    parameters.iter().map(Parameter::canonical).collect::<Vec<_>>().join(",")
}

impl Artifact {
    /// Parses a build artifact.
    pub(super) fn parse(json: &str) -> Result<Artifact, ArtifactError> {
        let artifact: Artifact =
            serde_json::from_str(json).map_err(|error| ArtifactError(error.to_string()))?;
        if artifact.bytecode.0.is_empty() {
            Err(ArtifactError("it has no bytecode".to_owned()))
        } else {
            Ok(artifact)
        }
    }

    /// Creation code followed by the constructor's arguments.
    pub(super) fn creation_code(&self, arguments: &[u8]) -> Vec<u8> {
        [&self.bytecode.0, arguments].concat()
    }

    /// The errors in its interface.
    pub(super) fn errors(&self) -> HashMap<Selector, Entry> {
        let errors = self.abi.iter().filter(|entry| entry.kind == "error");
        errors.map(|entry| (abi::selector(&entry.signature()), entry.clone())).collect()
    }

    /// The entries of one kind (`function`, `event`).
    #[cfg(test)]
    pub(super) fn entries(&self, kind: &str) -> Vec<&Entry> {
        self.abi.iter().filter(|entry| entry.kind == kind).collect()
    }

    /// Types of the results of the function with this signature; `None` if there is none.
    #[cfg(test)]
    pub(super) fn outputs(&self, signature: &str) -> Option<Vec<&str>> {
        let functions = self.entries("function");
        let function = functions.into_iter().find(|entry| entry.signature() == signature)?;
        Some(function.outputs.iter().map(|output| &*output.kind).collect())
    }
}
