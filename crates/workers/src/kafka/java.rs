//! Settings as Kafka's own tools name them, in the names of librdkafka: a file of those tools serves as it is, where
//! librdkafka can do what it says.

/// A line of a file of settings.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
}

/// What librdkafka cannot do: on which line, why, and what to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) reason: &'static str,
    pub(super) help: &'static str,
}

/// The setting that may go on in the next line, after a backslash.
pub(super) const JAAS: &str = "sasl.jaas.config";

/// Gives settings the names of librdkafka. Those that have them already stay.
pub(super) fn translate(settings: Vec<Setting>) -> Result<Vec<Setting>, Wrong> {
    let is_pem = |key: &str| {
        let last = settings.iter().rfind(|setting| setting.key == key);
        last.is_some_and(|setting| setting.value.eq_ignore_ascii_case("PEM"))
    };
    let (trusts_pem, keeps_pem) = (is_pem("ssl.truststore.type"), is_pem("ssl.keystore.type"));
    let mut translated = Vec::with_capacity(settings.len());
    for setting in settings {
        let line = setting.line;
        let mut add = |key: &str, value: String| {
            let key = key.to_owned();
            translated.push(Setting { line, key, value });
        };
        match setting.key.as_str() {
            // Types are looked up with their files, and PEM has no password for certificates.
            "ssl.truststore.type" | "ssl.truststore.password" | "ssl.keystore.type" => {}
            "ssl.truststore.location" if trusts_pem => add("ssl.ca.location", setting.value),
            "ssl.truststore.location" => {
                return Err(Wrong {
                    line,
                    reason: "ssl.truststore.location is a store of Java, and the client reads PEM",
                    help: "export the authorities (`keytool -exportcert -rfc -keystore STORE -alias NAME`), and write \
                           ssl.truststore.type=PEM and their file",
                });
            }
            // One file with the key and the certificates; each reader takes its part.
            "ssl.keystore.location" if keeps_pem => {
                add("ssl.certificate.location", setting.value.clone());
                add("ssl.key.location", setting.value);
            }
            "ssl.endpoint.identification.algorithm" if setting.value.is_empty() => {
                add("ssl.endpoint.identification.algorithm", "none".to_owned());
            }
            JAAS => {
                let (user, password) = login(&setting.value).ok_or(Wrong {
                    line,
                    reason: "sasl.jaas.config is not a PlainLoginModule or ScramLoginModule with a username and a \
                             password",
                    help: "write sasl.username=… and sasl.password=…",
                })?;
                add("sasl.username", user);
                add("sasl.password", password);
            }
            _ => translated.push(setting),
        }
    }
    Ok(translated)
}

/// The user and the password of `MODULE required username="…" password="…";`.
fn login(text: &str) -> Option<(String, String)> {
    let (module, mut rest) = text.trim().split_once(char::is_whitespace)?;
    let name = module.rsplit('.').next()?;
    if !matches!(name, "PlainLoginModule" | "ScramLoginModule") {
        return None;
    }
    rest = rest.trim_start().strip_prefix("required")?;
    let (mut user, mut password) = (None, None);
    loop {
        rest = rest.trim_start();
        if rest == ";" {
            return user.zip(password);
        }
        let (key, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start())?;
        rest = after;
        match key.trim_end() {
            "username" => user = Some(value),
            "password" => password = Some(value),
            _ => return None,
        }
    }
}

/// A text in quotes, in which a backslash takes the next letter as it is, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.chars();
    let mut value = String::new();
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(lines: &[(&str, &str)]) -> Result<Vec<String>, Wrong> {
        let setting = |(line, (key, value)): (usize, &(&str, &str))| Setting {
            line,
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        };
        let settings = (1..).zip(lines).map(setting).collect();
        let said = translate(settings)?;
        Ok(said
            .iter()
            .map(|setting| format!("{}={}", setting.key, setting.value))
            .collect())
    }

    #[test]
    fn stores_of_pem_are_files_of_certificates_and_keys() {
        let lines = [
            ("ssl.truststore.location", "ca.pem"),
            ("ssl.truststore.type", "PEM"),
            ("ssl.keystore.type", "pem"),
            ("ssl.keystore.location", "me.pem"),
            ("ssl.endpoint.identification.algorithm", ""),
        ];
        assert_eq!(
            translated(&lines).unwrap(),
            [
                "ssl.ca.location=ca.pem",
                "ssl.certificate.location=me.pem",
                "ssl.key.location=me.pem",
                "ssl.endpoint.identification.algorithm=none",
            ]
        );
        let wrong = translated(&lines[..1]).unwrap_err();
        assert!(wrong.line == 1 && wrong.help.contains("keytool"));
        // PKCS#12 is read as it is.
        let lines = [("ssl.keystore.location", "me.p12")];
        assert_eq!(
            translated(&lines).unwrap(),
            ["ssl.keystore.location=me.p12"]
        );
    }

    #[test]
    fn a_login_is_a_user_and_a_password() {
        let line = |text| translated(&[(JAAS, text)]);
        let plain = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"me\" \
                     password=\"a\\\"=; b\" ;";
        let said = ["sasl.username=me", "sasl.password=a\"=; b"];
        assert_eq!(line(plain).unwrap(), said);
        for wrong in [
            "",
            "ScramLoginModule required",
            "ScramLoginModule required username=\"me\";",
            "ScramLoginModule required username=\"me\" password=\"s3cret;",
            "ScramLoginModule optional username=\"me\" password=\"s3cret\";",
            "com.sun.security.auth.module.Krb5LoginModule required username=\"me\" password=\"s3cret\";",
        ] {
            let wrong = line(wrong).unwrap_err();
            assert!(!format!("{wrong:?}").contains("s3cret"));
        }
    }
}
