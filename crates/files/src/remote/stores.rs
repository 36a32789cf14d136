//! From URLs to the stores that they are about. What a store needs to know beyond the URL (keys,
//! regions, endpoints) is in the environment, under the names that its own tools have.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "remote")]
use object_store::aws::AmazonS3Builder;
#[cfg(feature = "remote")]
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
#[cfg(feature = "remote")]
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, HeaderValue, Result, RetryConfig};
#[cfg(feature = "remote")]
use object_store::{ObjectStore, ObjectStoreScheme};
use url::Url;

use super::answer::{Answer, Answered};
use super::failed::{RemoteError, innermost};
use super::{Patience, UNKNOWN_BYTES};
use crate::object::Object;

/// The longest wait between two requests, as a multiple of the first.
const PAUSES_MAX: u32 = 32;

/// The object of a URL, whose store's answers are noted in `answered`.
pub(super) fn of(
    url: &str,
    patience: &Patience,
    answered: &Answered,
) -> std::result::Result<Object, RemoteError> {
    // A connection that is to be encrypted asks for these. Refused where they are there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |why: String| RemoteError::Url { why };
    let mut url = Url::parse(url).map_err(|error| failed(format!("it is no URL: {error}")))?;
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(failed("a name or password in a URL is not used".to_owned()));
    }
    let connector = Connector {
        url: None,
        answered: answered.clone(),
    };
    let store = match url.scheme() {
        "http" | "https" => web(&url, patience, connector),
        _ => bucket(&url, patience, &connector),
    };
    store.map_err(|error| failed(innermost(&error)))
}

/// A web server: one object, asked for by its URL to the letter.
fn web(url: &Url, patience: &Patience, connector: Connector) -> Result<Object> {
    let store = HttpBuilder::new()
        .with_url(&url[..url::Position::BeforePath])
        .with_client_options(options(patience).with_allow_http(true))
        .with_retry(retries(patience))
        .with_http_connector(Connector {
            url: Some(url.to_string()),
            ..connector
        })
        .build()?;
    Ok(Object::new(Arc::new(store), Path::from("object")))
}

/// A build that reads web servers alone.
#[cfg(not(feature = "remote"))]
fn bucket(_: &Url, _: &Patience, _: &Connector) -> Result<Object> {
    Err(object_store::Error::NotSupported {
        source: "object stores are in builds with the feature 'cloud'".into(),
    })
}

/// A store of buckets.
#[cfg(feature = "remote")]
fn bucket(url: &Url, patience: &Patience, connector: &Connector) -> Result<Object> {
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    // What the environment says comes last.
    macro_rules! store {
        ($builder:ty, $prefix:literal) => {
            Arc::new(
                variables($prefix)
                    .fold(
                        <$builder>::new()
                            .with_client_options(options(patience))
                            .with_retry(retries(patience)),
                        |builder, (key, value)| match key.parse() {
                            Ok(key) => builder.with_config(key, value),
                            Err(_) => builder,
                        },
                    )
                    .with_url(url.to_string())
                    .with_http_connector(connector.clone())
                    .build()?,
            )
        };
    }
    let store: Arc<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::AmazonS3 => {
            let store = store!(AmazonS3Builder, "AWS_");
            // Only its own names say which bucket it is.
            let bucket = url
                .host_str()
                .filter(|_| matches!(url.scheme(), "s3" | "s3a"));
            match bucket.filter(|_| signs_plainly()) {
                Some(bucket) => {
                    let allow = |(key, value): (String, String)| {
                        key == "aws_allow_http" && value.eq_ignore_ascii_case("true")
                    };
                    let options = options(patience).with_allow_http(variables("AWS_").any(allow));
                    let client = connector.connect(&options)?;
                    return Ok(Object::in_s3(store, bucket, path, client));
                }
                None => store,
            }
        }
        ObjectStoreScheme::GoogleCloudStorage => store!(GoogleCloudStorageBuilder, "GOOGLE_"),
        ObjectStoreScheme::MicrosoftAzure => store!(MicrosoftAzureBuilder, "AZURE_"),
        _ => {
            return Err(object_store::Error::NotSupported {
                source: "no store is known by this scheme and host".into(),
            });
        }
    };
    Ok(Object::new(store, path))
}

/// Whether requests to S3 are signed, and parts have no checksums of their own.
#[cfg(feature = "remote")]
fn signs_plainly() -> bool {
    let mut other = variables("AWS_").filter(|(key, value)| {
        key == "aws_checksum_algorithm"
            || key == "aws_s3_express"
            || (key == "aws_skip_signature" && value.eq_ignore_ascii_case("true"))
            || key.starts_with("aws_sse")
            || key.starts_with("aws_server_side_encryption")
    });
    other.next().is_none()
}

/// The variables of the environment with this prefix, in lower case.
#[cfg(feature = "remote")]
fn variables(prefix: &'static str) -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(move |(key, value)| {
        let key = key.to_str().filter(|key| key.starts_with(prefix))?;
        Some((key.to_ascii_lowercase(), value.to_str()?.to_owned()))
    })
}

/// A stream takes as long as it takes: only waits are bounded.
fn options(patience: &Patience) -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(patience.connect)
        .with_read_timeout(patience.read)
        .with_timeout_disabled()
}

fn retries(patience: &Patience) -> RetryConfig {
    RetryConfig {
        max_retries: patience.retries,
        backoff: BackoffConfig {
            init_backoff: patience.pause,
            max_backoff: patience.pause * PAUSES_MAX,
            ..BackoffConfig::default()
        },
        ..RetryConfig::default()
    }
}

/// Makes clients that note answers, and that ask for one URL, where there is one, whatever its path
/// and query look like once they were taken apart and put together again.
#[derive(Debug, Clone)]
struct Connector {
    url: Option<String>,
    answered: Answered,
}

#[derive(Debug)]
struct Client {
    connector: Connector,
    client: HttpClient,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Client {
            connector: self.clone(),
            client,
        }))
    }
}

type Call<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;
type CallResult = std::result::Result<HttpResponse, HttpError>;

impl HttpService for Client {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> Call<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(self.answer(request))
    }
}

impl Client {
    async fn answer(&self, mut request: HttpRequest) -> CallResult {
        let Connector { url, answered } = &self.connector;
        if let Some(url) = url {
            let uri = url.parse();
            *request.uri_mut() =
                uri.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        }
        answered.set(None);
        let mut response = self.client.execute(request).await?;
        let status = response.status();
        answered.set(Some(Answer {
            code: status.as_u16(),
            reason: status.canonical_reason().unwrap_or_default(),
        }));
        // Pages that are made as they are sent have no length, and are read all the same.
        let headers = response.headers_mut();
        if !headers.contains_key("content-length") {
            headers.insert("content-length", HeaderValue::from(UNKNOWN_BYTES));
        }
        Ok(response)
    }
}
