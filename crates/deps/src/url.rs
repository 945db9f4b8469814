//! Addresses of repositories: which are allowed, how they are shown without
//! credentials, and how a submodule's or a mirror's address follows from one.

use std::fmt;
use std::path::Path;

use thiserror::Error;

/// How a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `https://`.
    Https,
    /// `ssh://`, or `user@host:path`.
    Ssh,
    /// `file://`, only when somebody named it.
    File,
}

impl Scheme {
    /// The name git has for it.
    #[must_use]
    pub fn git_name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Ssh => "ssh",
            Self::File => "file",
        }
    }
}

/// A checked address. Shown without credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    scheme: Scheme,
}

/// Why an address is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// It would be read as an option.
    #[error("an address must not begin with `-`")]
    Option,
    /// It names a helper program.
    #[error("`{0}::` would run a program: only https, ssh and file are allowed")]
    Helper(String),
    /// Another protocol.
    #[error("only https://, ssh://, user@host:path and file:// are allowed")]
    Protocol,
    /// There is no host or path.
    #[error("the address has no host or no path")]
    Incomplete,
    /// Characters no address has.
    #[error("an address has no spaces and no control characters")]
    Characters,
    /// A name or password in it.
    #[error("an address must not hold credentials: use a git credential helper")]
    Credentials,
    /// A submodule that leads out of its parent's server.
    #[error("the submodule's address leads out of its parent's server")]
    Escapes,
}

impl Url {
    /// An address for manifest and lock: no credentials in it.
    ///
    /// # Errors
    /// When it is not allowed.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Self::parse_with_credentials(text)?;
        if url.shown() == url.text {
            Ok(url)
        } else {
            Err(UrlError::Credentials)
        }
    }

    /// An address typed for this run only, which may hold credentials.
    ///
    /// # Errors
    /// When it is not allowed.
    pub fn parse_with_credentials(text: &str) -> Result<Self, UrlError> {
        if text.starts_with('-') {
            return Err(UrlError::Option);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(UrlError::Characters);
        }
        if let Some((helper, _)) = text.split_once("::")
            && helper
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-')
        {
            return Err(UrlError::Helper(helper.to_owned()));
        }
        let scheme = match text.split_once("://") {
            Some(("https", rest)) => {
                server(rest)?;
                Scheme::Https
            }
            Some(("ssh", rest)) => {
                server(rest)?;
                Scheme::Ssh
            }
            Some(("file", path)) => {
                if !path.starts_with('/') || path.len() < 2 {
                    return Err(UrlError::Incomplete);
                }
                Scheme::File
            }
            Some(_) => return Err(UrlError::Protocol),
            None => {
                scp(text)?;
                Scheme::Ssh
            }
        };
        Ok(Self {
            text: text.to_owned(),
            scheme,
        })
    }

    /// An address below which repositories are, typed for this run only.
    ///
    /// # Errors
    /// When it is not allowed.
    pub fn parse_base(text: &str) -> Result<Self, UrlError> {
        let text = text.trim_end_matches('/');
        // A server alone is no repository, and may have some.
        let below = Self::parse_with_credentials(&format!("{text}/x"))?;
        Ok(Self {
            text: text.to_owned(),
            scheme: below.scheme,
        })
    }

    /// The address of a folder on this machine.
    ///
    /// # Errors
    /// When its path is not absolute or has characters no address has.
    pub fn of_path(path: &Path) -> Result<Self, UrlError> {
        let text = path.to_str().ok_or(UrlError::Characters)?;
        // Git takes the rest of a file address as it is, so spaces may stay.
        if !path.is_absolute() || text.chars().any(char::is_control) {
            return Err(UrlError::Characters);
        }
        Ok(Self {
            text: format!("file://{text}"),
            scheme: Scheme::File,
        })
    }

    /// How it is reached.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The address for git, with credentials if it has any. Never print it.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.text
    }

    /// Text from git with the credentials of this address blanked.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        let mut text = text.replace(&self.text, &self.shown());
        if let Some(user) = self.user_info() {
            text = text.replace(user, "***");
        }
        text
    }

    /// The last part of the path without `.git`.
    #[must_use]
    pub fn repository(&self) -> &str {
        let path = self.text.trim_end_matches('/');
        let last = path.rsplit(['/', ':']).next().unwrap_or(path);
        last.strip_suffix(".git").unwrap_or(last)
    }

    /// The address without what does not tell repositories apart.
    #[must_use]
    pub fn identity(&self) -> String {
        let shown = self.shown();
        let path = shown.trim_end_matches('/');
        path.strip_suffix(".git").unwrap_or(path).to_owned()
    }

    /// A repository below this address.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        Self {
            text: format!("{}/{name}", self.text.trim_end_matches('/')),
            scheme: self.scheme,
        }
    }

    /// The address of a submodule: absolute, or relative to this one by git's
    /// rule (each `../` takes off one part of the path).
    ///
    /// # Errors
    /// When it is not allowed, or leads out of this address's server, or to
    /// files of this machine where this one does not.
    pub fn submodule(&self, address: &str) -> Result<Self, UrlError> {
        if !(address.starts_with("./") || address.starts_with("../")) {
            let url = Self::parse(address)?;
            if url.scheme == Scheme::File && self.scheme != Scheme::File {
                return Err(UrlError::Escapes);
            }
            return Ok(url);
        }
        let (root, path) = self.split();
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for part in address.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(UrlError::Escapes)?;
                }
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(UrlError::Escapes);
        }
        Self::parse(&format!("{root}{}", parts.join("/")))
    }

    /// What names the server, and the path on it.
    fn split(&self) -> (&str, &str) {
        let start = match self.text.split_once("://") {
            Some((scheme, rest)) => {
                scheme.len() + 3 + rest.find('/').map_or(rest.len(), |slash| slash + 1)
            }
            None => self.text.find(':').map_or(0, |colon| colon + 1),
        };
        self.text.split_at(start.min(self.text.len()))
    }

    /// Name and password of an https address; the password of an ssh address.
    fn user_info(&self) -> Option<&str> {
        let rest = self.text.split_once("://")?.1;
        let server = rest.split('/').next()?;
        let user = server.rsplit_once('@')?.0;
        match self.scheme {
            Scheme::Https => Some(user),
            Scheme::Ssh => Some(user.split_once(':')?.1),
            Scheme::File => None,
        }
    }

    fn shown(&self) -> String {
        match self.user_info() {
            Some(user) => self.text.replacen(user, "***", 1),
            None => self.text.clone(),
        }
    }
}

/// `host/path`, with a user and a port where there are some.
fn server(rest: &str) -> Result<(), UrlError> {
    let (server, path) = rest.split_once('/').ok_or(UrlError::Incomplete)?;
    let (user, host) = server.rsplit_once('@').unwrap_or(("", server));
    if host.is_empty() || path.is_empty() {
        return Err(UrlError::Incomplete);
    }
    if host.starts_with('-') || user.starts_with('-') {
        return Err(UrlError::Option);
    }
    Ok(())
}

/// `user@host:path`.
fn scp(text: &str) -> Result<(), UrlError> {
    let (server, path) = text.split_once(':').ok_or(UrlError::Protocol)?;
    // A slash first makes it a path on this machine.
    let (user, host) = server.split_once('@').ok_or(UrlError::Protocol)?;
    if server.contains('/') || user.contains(':') {
        return Err(UrlError::Protocol);
    }
    if host.starts_with('-') || path.starts_with('-') {
        return Err(UrlError::Option);
    }
    if user.is_empty() || host.is_empty() || path.is_empty() {
        return Err(UrlError::Incomplete);
    }
    Ok(())
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({})", self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_protocols_pass() {
        for (text, scheme) in [
            ("https://host/a/b.git", Scheme::Https),
            ("https://[::1]/a", Scheme::Https),
            ("ssh://git@host:22/a", Scheme::Ssh),
            ("git@host:a/b.git", Scheme::Ssh),
            ("file:///a/b", Scheme::File),
        ] {
            assert_eq!(
                Url::parse(text).map(|url| url.scheme()),
                Ok(scheme),
                "{text}"
            );
        }
        for (text, error) in [
            ("--upload-pack=touch", UrlError::Option),
            ("ssh://-oProxyCommand=x/a", UrlError::Option),
            ("git@-oProxyCommand=x:a", UrlError::Option),
            ("git@host:-a", UrlError::Option),
            ("ext::sh -c x", UrlError::Characters),
            ("ext::sh", UrlError::Helper("ext".to_owned())),
            ("fd::3", UrlError::Helper("fd".to_owned())),
            ("http://host/a", UrlError::Protocol),
            ("git://host/a", UrlError::Protocol),
            ("/a/b", UrlError::Protocol),
            ("../a", UrlError::Protocol),
            ("C:/a", UrlError::Protocol),
            ("", UrlError::Protocol),
            ("https://host", UrlError::Incomplete),
            ("https:///a", UrlError::Incomplete),
            ("file://a", UrlError::Incomplete),
            ("https://host/a b", UrlError::Characters),
            ("https://host/a\nb", UrlError::Characters),
            ("https://me:secret@host/a", UrlError::Credentials),
            ("https://token@host/a", UrlError::Credentials),
            ("ssh://git:secret@host/a", UrlError::Credentials),
        ] {
            assert_eq!(Url::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn credentials_are_never_shown() {
        let url = Url::parse_with_credentials("https://me:s3cret@host/a.git").unwrap();
        assert_eq!(url.to_string(), "https://***@host/a.git");
        assert_eq!(format!("{url:?}"), "Url(https://***@host/a.git)");
        let said = "fatal: unable to access 'https://me:s3cret@host/a.git/': for me:s3cret";
        assert!(!url.scrub(said).contains("s3cret"));
        assert_eq!(url.identity(), "https://***@host/a");
        assert_eq!(url.repository(), "a");
    }

    #[test]
    fn a_submodule_stays_on_its_parents_server() {
        let table = [
            ("https://h/a/b.git", "../c.git", Ok("https://h/a/c.git")),
            ("https://h/a/b.git", "./c", Ok("https://h/a/b.git/c")),
            ("https://h/a/b.git", "../../c/d", Ok("https://h/c/d")),
            ("https://h/a/b.git", "../../../c", Err(UrlError::Escapes)),
            ("https://h/a/b.git", "../..", Err(UrlError::Escapes)),
            ("git@h:a/b.git", "../c", Ok("git@h:a/c")),
            ("git@h:a/b.git", "../../../c", Err(UrlError::Escapes)),
            ("file:///m/b", "../c", Ok("file:///m/c")),
            ("file:///m/b", "../../../c", Err(UrlError::Escapes)),
            ("https://h/a/b", "https://other/c", Ok("https://other/c")),
            ("https://h/a/b", "file:///etc", Err(UrlError::Escapes)),
            (
                "https://h/a/b",
                "ext::sh",
                Err(UrlError::Helper("ext".to_owned())),
            ),
            ("https://h/a/b", "-x", Err(UrlError::Option)),
            ("https://h/a/b", "/etc", Err(UrlError::Protocol)),
        ];
        for (parent, address, want) in table {
            let got = Url::parse(parent).unwrap().submodule(address);
            assert_eq!(
                got.as_ref().map(Url::secret),
                want.as_ref().copied(),
                "{parent} {address}"
            );
        }
    }

    #[test]
    fn a_mirror_is_found_by_the_name_of_the_repository() {
        let url = Url::parse("https://h/a/Megatron-LM.git").unwrap();
        assert_eq!(url.repository(), "Megatron-LM");
        assert_eq!(Url::parse("git@h:x.git").unwrap().repository(), "x");
        for (base, joined) in [
            ("https://h", "https://h/x.git"),
            ("https://me:s3cret@h:1/", "https://me:s3cret@h:1/x.git"),
            ("file:///m/", "file:///m/x.git"),
        ] {
            let base = Url::parse_base(base).unwrap();
            assert_eq!(base.join("x.git").secret(), joined);
            assert!(!base.to_string().contains("s3cret"));
        }
        for wrong in [
            "",
            "https://",
            "https://me:secret@",
            "ext::sh",
            "file://",
            "/m",
        ] {
            assert!(Url::parse_base(wrong).is_err(), "{wrong}");
        }
        let base = Url::of_path(Path::new("/m i")).unwrap();
        assert_eq!(base.join("x.git").secret(), "file:///m i/x.git");
    }
}
