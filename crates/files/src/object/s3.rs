//! What S3 can do and the crate `object_store` does not offer: parts that the server copies from other
//! objects, and ending an object of parts on the condition that there is none. Both are signed by the
//! store as URLs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::aws::AmazonS3;
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use object_store::multipart::{MultipartStore as _, PartId};
use object_store::path::Path;
use object_store::signer::{
    HeaderMap, HeaderName, HeaderValue, Method, SignedUrlOptions, Signer as _,
};

use super::ObjectError;

/// How long a signed URL is good for.
const SIGNED: Duration = Duration::from_secs(3600);
/// Requests after the first, and the pause before the first of them.
const RETRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(100);

const COPY_SOURCE: HeaderName = HeaderName::from_static("x-amz-copy-source");
const COPY_RANGE: HeaderName = HeaderName::from_static("x-amz-copy-source-range");
const COPY_IF_MATCH: HeaderName = HeaderName::from_static("x-amz-copy-source-if-match");
const IF_NONE_MATCH: HeaderName = HeaderName::from_static("if-none-match");

/// A bucket, and a client of its own for what the store does not send.
#[derive(Debug, Clone)]
pub(super) struct S3 {
    pub(super) store: Arc<AmazonS3>,
    bucket: String,
    client: HttpClient,
}

/// An answer: its status and its body.
struct Answer {
    code: u16,
    body: String,
}

impl Answer {
    /// What it says, for messages.
    fn what(&self) -> String {
        let said = between(&self.body, "<Code>", "</Code>").unwrap_or_default();
        format!("{} {said}", self.code).trim().to_owned()
    }
}

impl S3 {
    pub(super) fn new(store: Arc<AmazonS3>, bucket: &str, client: HttpClient) -> Self {
        Self {
            store,
            bucket: bucket.to_owned(),
            client,
        }
    }

    /// Has the server copy these bytes of another object into a part; numbers count from 0.
    pub(super) async fn copy_part(
        &self,
        path: &Path,
        id: &str,
        number: usize,
        from: (&Self, &Path, Option<&str>),
        range: &Range<u64>,
    ) -> Result<PartId, ObjectError> {
        let (bucket, source, etag) = from;
        let place = format!("{}/{}", bucket.bucket, encoded(source.as_ref()));
        let last = range.end.saturating_sub(1);
        let mut headers = HeaderMap::new();
        headers.insert(COPY_SOURCE, value(&place)?);
        headers.insert(COPY_RANGE, value(&format!("bytes={}-{last}", range.start))?);
        if let Some(etag) = etag {
            headers.insert(COPY_IF_MATCH, value(etag)?);
        }
        let query = [
            ("partNumber", (number + 1).to_string()),
            ("uploadId", id.to_owned()),
        ];
        let answer = self
            .send(Method::PUT, path, &query, headers, Bytes::new())
            .await?;
        // It may begin well and still end as an error.
        match between(&answer.body, "<ETag>", "</ETag>") {
            Some(etag) if answer.code == 200 => Ok(PartId {
                content_id: etag.replace("&quot;", "\"").replace("&#34;", "\""),
            }),
            _ if answer.code == 412 => Err(ObjectError::Changed),
            _ => Err(ObjectError::NoCopies { why: answer.what() }),
        }
    }

    /// Ends an object of parts, unless there is an object of its name.
    pub(super) async fn complete_new(
        &self,
        path: &Path,
        id: &str,
        parts: &[PartId],
    ) -> Result<(), ObjectError> {
        let mut body = "<CompleteMultipartUpload>".to_owned();
        for (part, number) in parts.iter().zip(1..) {
            let etag = part.content_id.replace('&', "&amp;").replace('<', "&lt;");
            body += &format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>");
        }
        body += "</CompleteMultipartUpload>";
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        let query = [("uploadId", id.to_owned())];
        let answer = self
            .send(Method::POST, path, &query, headers, body.into())
            .await?;
        match answer.code {
            200 if answer.body.contains("<CompleteMultipartUploadResult") => Ok(()),
            409 | 412 => Err(ObjectError::Exists),
            501 => Err(ObjectError::NoConditionalCreate { why: answer.what() }),
            _ => Err(refused(&answer)),
        }
    }

    pub(super) async fn abort(&self, path: &Path, id: &String) -> Result<(), ObjectError> {
        Ok(self.store.abort_multipart(path, id).await?)
    }

    async fn send(
        &self,
        method: Method,
        path: &Path,
        query: &[(&str, String)],
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, ObjectError> {
        let mut options = SignedUrlOptions::default();
        options.extra_query = query
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        options.signed_headers = headers.clone();
        let mut tried = 0;
        loop {
            let signed = self
                .store
                .signed_url_opts(method.clone(), path, SIGNED, &options);
            let url = signed.await?;
            let mut request = HttpRequest::new(HttpRequestBody::from(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.as_str().parse().map_err(generic)?;
            *request.headers_mut() = headers.clone();
            let answered = async {
                let response = self.client.execute(request).await?;
                let code = response.status().as_u16();
                let body = response.into_body().bytes().await?;
                let body = String::from_utf8_lossy(&body).into_owned();
                Ok::<_, object_store::client::HttpError>(Answer { code, body })
            };
            match answered.await {
                Ok(answer) if answer.code < 500 || answer.code == 501 => return Ok(answer),
                Ok(answer) if tried == RETRIES => return Err(refused(&answer)),
                Err(error) if tried == RETRIES => return Err(generic(error)),
                _ => tokio::time::sleep(PAUSE * (1 << (2 * tried))).await,
            }
            tried += 1;
        }
    }
}

fn refused(answer: &Answer) -> ObjectError {
    generic(format!("the server answered {}", answer.what()))
}

fn generic(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ObjectError {
    ObjectError::Store(object_store::Error::Generic {
        store: "S3",
        source: why.into(),
    })
}

fn value(text: &str) -> Result<HeaderValue, ObjectError> {
    HeaderValue::from_str(text).map_err(generic)
}

/// What is between two marks, the first time.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// A path as the header of a copy has it.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded_for_headers_and_tags_are_found_in_answers() {
        assert_eq!(encoded("a b/ä+%.zip"), "a%20b/%C3%A4%2B%25.zip");
        let xml = "<CopyPartResult><ETag>&quot;1f&quot;</ETag></CopyPartResult>";
        assert_eq!(between(xml, "<ETag>", "</ETag>"), Some("&quot;1f&quot;"));
        assert_eq!(between("<ETag>", "<ETag>", "</ETag>"), None);
    }
}
