//! The endpoint over HTTP, on loopback.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::apis::ModelApi;
use super::request_log::ModelRequestLog;
use super::script::ModelScript;

/// The scripted model behind the HTTP endpoint.
struct ScriptedModelEndpoint {
    script: ModelScript,
    record: ModelRequestLog,
}

/// Answers every connection of `listener`; it ends only with an error.
pub(super) async fn serve(
    listener: TcpListener,
    script: ModelScript,
    record: ModelRequestLog,
) -> io::Result<()> {
    let endpoint = Arc::new(ScriptedModelEndpoint { script, record });
    loop {
        let (stream, _) = listener.accept().await?;
        let endpoint = Arc::clone(&endpoint);
        let service = service_fn(move |request| {
            let endpoint = Arc::clone(&endpoint);
            async move { endpoint.respond(request).await }
        });
        tokio::spawn(async move {
            // Agents end, or are killed, whenever they like.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

impl ScriptedModelEndpoint {
    async fn respond(&self, request: Request<Incoming>) -> io::Result<Response<Full<Bytes>>> {
        let path = request.uri().path().to_owned();
        if request.method() == Method::GET {
            // Some agents look the model up first.
            return Ok(answer(StatusCode::OK, &json!({ "data": [{ "id": "scripted" }] })));
        }
        let Some(api) = ModelApi::of(&path) else {
            let error = json!({ "error": { "message": "this endpoint knows no such path" } });
            return Ok(answer(StatusCode::NOT_FOUND, &error));
        };
        let body = request.into_body().collect().await.map_err(io::Error::other)?;
        let request: Value = serde_json::from_slice(&body.to_bytes())?;
        let conversation = api.read(&request);
        self.record.add(&path, &conversation)?;
        let turn = self.script.next(&conversation).await;
        Ok(if api.streams(&path, &request) {
            body_of("text/event-stream", api.stream(&turn))
        } else {
            answer(StatusCode::OK, &api.whole(&turn))
        })
    }
}

fn answer(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = body_of("application/json", body.to_string());
    *response.status_mut() = status;
    response
}

fn body_of(content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
