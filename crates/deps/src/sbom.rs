//! The locked projects as a bill of materials, in the two forms that are asked for.

use serde_json::{Value, json};

use crate::lock::Locked;
use crate::project::Project;
use crate::url::{Scheme, Url};

/// SPDX 2.3, as JSON.
#[must_use]
pub fn spdx(project: &Project) -> Value {
    let mut packages = Vec::new();
    let mut relationships = Vec::new();
    let relate = |from: &str, how: &str, to: &str| json!({"spdxElementId": from, "relationshipType": how, "relatedSpdxElement": to});
    for locked in &project.lock.entries {
        let id = spdx_id(&locked.name);
        let licence = licence(project, locked).unwrap_or("NOASSERTION");
        packages.push(spdx_package(
            &id,
            &locked.name,
            &locked.url,
            &locked.rev,
            licence,
            &comment(locked),
        ));
        relationships.push(relate("SPDXRef-DOCUMENT", "DESCRIBES", &id));
        for submodule in &locked.submodules {
            let name = format!("{}/{}", locked.name, submodule.path);
            let inner = spdx_id(&name);
            let hash = format!("source hash {}", submodule.source_hash);
            packages.push(spdx_package(
                &inner,
                &name,
                &submodule.url,
                &submodule.rev,
                "NOASSERTION",
                &hash,
            ));
            relationships.push(relate(&id, "CONTAINS", &inner));
        }
    }
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "cairn-third-party",
        "documentNamespace": format!("urn:cairn:third-party:{}", digest(project)),
        "creationInfo": {"created": created(project), "creators": [format!("Tool: cairn-deps-{}", env!("CARGO_PKG_VERSION"))]},
        "packages": packages,
        "relationships": relationships,
    })
}

fn spdx_package(id: &str, name: &str, url: &Url, rev: &str, licence: &str, comment: &str) -> Value {
    let mut package = json!({
        "SPDXID": id,
        "name": name,
        "versionInfo": rev,
        "downloadLocation": location(url, rev),
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "comment": comment,
    });
    if let Some(purl) = purl(url, rev) {
        package["externalRefs"] = json!([{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]);
    }
    package
}

/// `CycloneDX` 1.5, as JSON.
#[must_use]
pub fn cyclonedx(project: &Project) -> Value {
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for locked in &project.lock.entries {
        let mut component = component(&locked.name, &locked.url, &locked.rev);
        if let Some(licence) = licence(project, locked) {
            component["licenses"] = json!([{"expression": licence}]);
        }
        component["properties"] = json!([
            {"name": "cairn:source_hash", "value": locked.source_hash.to_string()},
            {"name": "cairn:tree_hash", "value": locked.tree_hash.to_string()},
        ]);
        if !locked.patches.is_empty() {
            let patches = locked.patches.iter().map(|patch| json!({"type": "unofficial", "diff": {"url": format!("{}/{}/{}", crate::patch::DIR, locked.name, patch.file)}}));
            component["pedigree"] = json!({"patches": patches.collect::<Vec<_>>()});
        }
        components.push(component);
        let mut inner = Vec::new();
        for submodule in &locked.submodules {
            let name = format!("{}/{}", locked.name, submodule.path);
            let mut component = self::component(&name, &submodule.url, &submodule.rev);
            component["properties"] =
                json!([{"name": "cairn:source_hash", "value": submodule.source_hash.to_string()}]);
            components.push(component);
            inner.push(reference(&name, &submodule.rev));
        }
        dependencies.push(json!({"ref": reference(&locked.name, &locked.rev), "dependsOn": inner}));
    }
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": created(project),
            "component": {"type": "application", "name": "cairn", "bom-ref": "cairn"},
        },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(name: &str, url: &Url, rev: &str) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(name, rev),
        "name": name,
        "version": rev,
        "externalReferences": [{"type": "vcs", "url": url.to_string()}],
    });
    if let Some(purl) = purl(url, rev) {
        component["purl"] = json!(purl);
    }
    component
}

fn reference(name: &str, rev: &str) -> String {
    format!("{name}@{rev}")
}

fn licence<'a>(project: &'a Project, locked: &Locked) -> Option<&'a str> {
    project.manifest.get(&locked.name).ok()?.licence.as_deref()
}

fn comment(locked: &Locked) -> String {
    let mut text = format!(
        "source hash {}, tree hash {}",
        locked.source_hash, locked.tree_hash
    );
    for patch in &locked.patches {
        text.push_str(&format!(
            ", patch {} (SHA-256 {})",
            patch.file, patch.sha256
        ));
    }
    text
}

/// Identifiers are letters, digits, `.` and `-`.
fn spdx_id(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    format!(
        "SPDXRef-Package-{}",
        name.chars().map(plain).collect::<String>()
    )
}

/// Where a revision is downloaded, in the form of SPDX.
///
/// A folder of this machine has none: SPDX wants a host.
fn location(url: &Url, rev: &str) -> String {
    let address = url.to_string();
    if url.scheme() == Scheme::File {
        "NOASSERTION".to_owned()
    } else if address.contains("://") {
        format!("git+{address}@{rev}")
    } else {
        format!("git+ssh://{}@{rev}", address.replacen(':', "/", 1))
    }
}

/// A package URL, for the one host whose repositories have a type of their own.
fn purl(url: &Url, rev: &str) -> Option<String> {
    let identity = url.identity();
    let path = identity.strip_prefix("https://github.com/")?;
    Some(format!("pkg:github/{}@{rev}", path.to_lowercase()))
}

/// The newest of the locked commits: the same lock gives the same document.
fn created(project: &Project) -> String {
    let dates = project
        .lock
        .entries
        .iter()
        .filter_map(|locked| locked.commit_date.clone());
    dates
        .max()
        .unwrap_or_else(|| "1970-01-01T00:00:00Z".to_owned())
}

fn digest(project: &Project) -> String {
    let mut print = cairn_base::hash::Fingerprint::new();
    for locked in &project.lock.entries {
        print
            .part(&locked.name)
            .part(&locked.rev)
            .part(locked.tree_hash.to_string());
    }
    print.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_take_the_forms_of_the_standards() {
        let url = Url::parse("https://github.com/NVIDIA/Megatron-LM.git").unwrap();
        assert_eq!(
            purl(&url, "01").as_deref(),
            Some("pkg:github/nvidia/megatron-lm@01")
        );
        assert_eq!(
            location(&url, "01"),
            "git+https://github.com/NVIDIA/Megatron-LM.git@01"
        );
        let url = Url::parse("git@host:a/b.git").unwrap();
        assert_eq!(purl(&url, "01"), None);
        assert_eq!(location(&url, "01"), "git+ssh://git@host/a/b.git@01");
        let url = Url::parse("file:///a/b").unwrap();
        assert_eq!(location(&url, "01"), "NOASSERTION");
        assert_eq!(spdx_id("a_b/c"), "SPDXRef-Package-a-b-c");
    }
}
