//! Lists the variables that a server names. `resolve` looks up their values.

use std::path::Path;

use toolgate_dialects::template::{self, TemplateVariable};
use toolgate_model::{AuthProvider, HttpSpec, Secret, ServerSpec, StdioSpec, TransportSpec};

/// Returns every variable of a server, in all fields, with duplicates.
pub(crate) fn server_variables(spec: &ServerSpec) -> Vec<TemplateVariable> {
    let texts = match &spec.transport {
        TransportSpec::Stdio(stdio) => of_process(stdio),
        TransportSpec::Http(http) => of_endpoint(http),
        TransportSpec::BuiltIn => Vec::new(),
    };
    texts.into_iter().flat_map(template::variables).collect()
}

fn of_process(stdio: &StdioSpec) -> Vec<&str> {
    let mut texts = vec![stdio.command.as_str()];
    texts.extend(stdio.args.iter().map(String::as_str));
    texts.extend(stdio.env.values().map(|value| value.expose().as_str()));
    let paths = [&stdio.cwd, &stdio.env_file].into_iter().flatten();
    texts.extend(paths.filter_map(|path| Path::to_str(path)));
    texts
}

fn of_endpoint(http: &HttpSpec) -> Vec<&str> {
    let mut texts = vec![http.url.as_str()];
    texts.extend(http.headers.values().map(|value| value.expose().as_str()));
    texts.extend(http.headers_helper.as_ref().map(Secret::expose).map(String::as_str));
    if let AuthProvider::ServiceAccount { audience, account } = &http.auth.provider {
        texts.extend([audience.as_str(), account]);
    }
    texts.extend(http.auth.oauth.fields().into_iter().map(|(_, text)| text));
    texts
}
