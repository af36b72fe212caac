//! Finds elicitation forms that ask for secrets: passwords, keys, codes, card numbers.
//!
//! MCP forbids such forms, and clients display the forms of all servers alike. The check looks at
//! the names, titles and descriptions of fields and at the message, in the languages listed here.
//! It does not detect other wordings.

use toolgate_wire::scan;

use crate::text::strip_text;
use crate::words::{contains_word, split_identifier, split_words};

/// A form field or message that asks for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedSecret {
    /// The name of the field, or none if the message asks for the secret.
    pub field: Option<String>,
    /// The word that was recognised.
    pub word: String,
}

/// Single words that denote a secret: English, then German and its neighbours, Romance, Slavic and
/// its neighbours, Greek, Hebrew and Hindi.
const WORDS: &str = "\
    password passwords passwd passphrase passcode pwd apikey credential credentials otp totp cvv \
    cvc cvv2 ssn mnemonic privatekey accesskey secretkey seedphrase passwort passwörter kennwort \
    geheimzahl zugangsdaten wachtwoord lösenord passord adgangskode kodeord salasana lykilorð \
    contraseña contrasena senha parolă motdepasse hasło heslo lozinka geslo пароль пароля пароли \
    парола лозинка jelszó slaptažodis salasõna şifre sifre συνθηματικό סיסמה סיסמא पासवर्ड";

/// Words that only count in field names, because they are ambiguous within a sentence.
const ONLY_IN_NAMES: &str = "pin token secret secrets parola parole κωδικός";

/// Sequences of words that denote a secret.
const PHRASES: &str = "\
    access token, api token, auth token, bearer token, refresh token, your token, your pin, \
    pin code, client secret, your secret, api key, access key, private key, secret key, ssh key, \
    signing key, encryption key, license key, recovery phrase, seed phrase, recovery code, \
    verification code, security code, one time code, 2fa code, mfa code, auth code, \
    authentication code, card number, credit card, debit card, social security number, \
    session cookie, pass word, pass phrase, mot de passe, clé secrète, clé privée, clé api, \
    code secret, clave secreta, clave privada, clave de acceso, chiave segreta, chiave privata, \
    chave secreta, código secreto, geheimer schlüssel, privater schlüssel, mật khẩu, kata sandi, \
    κωδικός πρόσβασης, كلمة المرور, كلمة السر";

/// Words of languages that do not separate words by spaces.
const UNSPACED: &str = "密码 密碼 口令 密钥 密鑰 验证码 驗證碼 パスワード 暗証番号 秘密鍵 비밀번호 암호 인증번호 รหัสผ่าน كلمةالمرور";

/// Verbs that ask the user to type something.
const ENTER: &str = "\
    enter type provide give input paste supply submit confirm need what your insert fill send \
    share gib eingeben geben ihr dein entrez saisissez votre introduzca ingrese escriba tu su \
    inserisci digite введите ваш podaj wpisz zadejte voer";

/// Returns the first field of a form that asks for a secret. `params` are the parameters of
/// `elicitation/create`.
pub fn find_secret_field(params: &[u8]) -> Option<RequestedSecret> {
    let schema = scan::member(params, "requestedSchema")?.slice(params);
    let properties = scan::member(schema, "properties").map(|at| at.slice(schema));
    let properties = properties.unwrap_or_default();
    let mut free = false;
    for (key, at) in scan::members(properties) {
        let field = at.slice(properties);
        if !is_free(field) {
            continue;
        }
        free = true;
        if let Some(word) = in_field(&key, field) {
            return Some(RequestedSecret { field: Some(key.into_owned()), word });
        }
    }
    let message = scan::member_text(params, "message").filter(|_| free)?;
    let word = in_message(&message)?;
    Some(RequestedSecret { field: None, word })
}

/// Returns true if the user can type free text into the field, rather than choose a value.
fn is_free(field: &[u8]) -> bool {
    let chosen = ["enum", "oneOf", "anyOf", "const", "items"];
    let boolean = scan::member_text(field, "type").as_deref() == Some("boolean");
    !boolean && !chosen.into_iter().any(|key| scan::member(field, key).is_some())
}

fn in_field(key: &str, field: &[u8]) -> Option<String> {
    if scan::member_text(field, "format").as_deref() == Some("password") {
        return Some("password".to_owned());
    }
    let is_number =
        matches!(scan::member_text(field, "type").as_deref(), Some("number" | "integer"));
    let title = scan::member_text(field, "title").unwrap_or_default();
    let names = [key, &title].into_iter();
    let of_names = names.filter_map(|name| {
        let name = strip_text(name);
        let named = split_identifier(&name);
        let single = named.iter().find(|word| contains_word(ONLY_IN_NAMES, word));
        let single = single.filter(|word| !(is_number && *word == "token")).cloned();
        single.or_else(|| in_words(&named)).or_else(|| unspaced(&name))
    });
    let described = scan::member_text(field, "description").unwrap_or_default();
    of_names.into_iter().next().or_else(|| in_text(&described))
}

fn in_text(text: &str) -> Option<String> {
    let text = strip_text(text);
    let words: Vec<_> = split_words(&text).into_iter().map(|word| word.text).collect();
    in_words(&words).or_else(|| unspaced(&text))
}

/// Returns the secret that a message asks the user to type: the message must name it and contain
/// such a verb.
fn in_message(message: &str) -> Option<String> {
    let text = strip_text(message);
    let said: Vec<_> = split_words(&text).into_iter().map(|word| word.text).collect();
    let wants = said.iter().any(|word| contains_word(ENTER, word));
    in_words(&said).filter(|_| wants).or_else(|| unspaced(&text))
}

/// Returns the first word or phrase that denotes a secret.
fn in_words(words: &[String]) -> Option<String> {
    let single = words.iter().find(|word| contains_word(WORDS, word));
    let spelled = || {
        let whole = PHRASES.split(", ").find(|phrase| {
            let phrase: Vec<_> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|window| window.iter().eq(phrase.iter()))
        });
        whole.map(str::to_owned)
    };
    single.cloned().or_else(spelled).or_else(|| letter_by_letter(words))
}

/// Returns a secret that is spelled with spaces, like `p a s s w o r d`.
fn letter_by_letter(words: &[String]) -> Option<String> {
    let mut run = String::new();
    for word in words.iter().map(String::as_str).chain([""]) {
        if word.chars().count() == 1 {
            run.push_str(word);
            continue;
        }
        let spelled = WORDS.split(' ').find(|secret| secret.len() > 5 && run.contains(secret));
        if let Some(secret) = spelled {
            return Some(secret.to_owned());
        }
        run.clear();
    }
    None
}

fn unspaced(text: &str) -> Option<String> {
    UNSPACED.split(' ').find(|word| text.contains(word)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn asked(message: &str, properties: Value) -> Option<String> {
        let schema = json!({"type": "object", "properties": properties});
        let params = json!({"message": message, "requestedSchema": schema}).to_string();
        find_secret_field(params.as_bytes()).map(|it| it.word)
    }

    #[test]
    fn fields_that_ask_for_secrets_are_found() {
        let text = |more: Value| {
            let mut field = json!({"type": "string"});
            field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            field
        };
        for (key, field) in [
            ("password", text(json!({}))),
            ("userPassword", text(json!({}))),
            ("x", text(json!({"title": "Your API key"}))),
            ("x", text(json!({"description": "the access-key of the account"}))),
            ("x", text(json!({"format": "password"}))),
            ("GITHUB_TOKEN", text(json!({}))),
            ("pin", json!({"type": "integer"})),
            ("x", text(json!({"title": "Passwort"}))),
            ("x", text(json!({"title": "mot de passe"}))),
            ("пароль", text(json!({}))),
            ("x", text(json!({"title": "请输入密码"}))),
            ("pаsswоrd", text(json!({}))), // with Cyrillic letters
            ("pass\u{200b}word", text(json!({}))),
            ("x", text(json!({"title": "p a s s w o r d"}))),
        ] {
            let found = asked("Please", json!({key: field.clone()}));
            assert!(found.is_some(), "{key}: {field}");
        }
    }

    #[test]
    fn a_message_that_asks_for_one_is_found() {
        let answer = json!({"answer": {"type": "string"}});
        assert!(asked("Please enter your GitHub password", answer.clone()).is_some());
        assert!(asked("Bitte Ihr Kennwort eingeben", answer).is_some());
        let yes = json!({"ok": {"type": "boolean"}});
        assert_eq!(asked("Reset your password?", yes), None);
    }

    #[test]
    fn ordinary_forms_are_left_alone() {
        for (key, field) in [
            ("name", json!({"type": "string", "title": "Your name"})),
            ("max_tokens", json!({"type": "integer"})),
            ("token", json!({"type": "integer", "description": "how many"})),
            ("token_type", json!({"type": "string", "enum": ["a", "b"]})),
            ("remember_password", json!({"type": "boolean"})),
            ("email", json!({"type": "string", "format": "email"})),
            ("keyboard", json!({"type": "string", "description": "layout to pin down"})),
        ] {
            let found = asked("Some details, please", json!({key: field.clone()}));
            assert_eq!(found, None, "{key}: {field}");
        }
        assert_eq!(find_secret_field(br#"{"mode":"url","url":"https://a"}"#), None);
    }
}
