//! The routes that carry a file, as a link or as an upload: `messages/media`, `messages/audio`, `messages/document`.

use serde_json::{Value, json};

use super::{Attachment, MessageError, Order, check};
use crate::http::FormFile;

/// What kind of file a route carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// `messages/media`: `mediaType` says which, else the upload's own type; a link without it is an image.
    Any,
    /// `messages/audio`.
    Audio,
    /// `messages/document`.
    Document,
}

const MEDIA_TYPE: MessageError =
    MessageError { member: "mediaType", expected: "image, video, audio or document" };

const FILE: MessageError = MessageError { member: "file", expected: "a file that is not empty" };

/// `{"to", "url", "caption"?, "filename"?, "mediaType"?}`, or the same as a form with a file instead of `url`. Audio has
/// no caption at WhatsApp: one is left out.
///
/// # Errors
/// [`MessageError`].
pub fn media(
    phone_number_id: &str,
    kind: MediaKind,
    content: &Value,
    file: Option<FormFile>,
) -> Result<Order, MessageError> {
    let to = check::to(content)?;
    let kind = whatsapp_type(kind, content, file.as_ref())?;
    let mut object = json!({});
    match &file {
        Some(file) if file.content.length() == 0 => return Err(FILE),
        Some(_) => {}
        None => object["link"] = json!(check::link(content, "url")?),
    }
    let caption = check::optional_caption(content)?.filter(|caption| !caption.is_empty());
    if let (Some(caption), true) = (caption, kind != "audio") {
        object["caption"] = json!(caption);
    }
    let named = check::optional_name(content, "filename")?;
    let name = named.or(file.as_ref().and_then(|file| file.name.as_deref()));
    if let (Some(name), "document") = (name, kind) {
        object["filename"] = json!(name);
    }
    let name = name.unwrap_or("file").to_owned();
    let order = Order::message(phone_number_id, to, kind, object);
    Ok(match file {
        None => order,
        Some(file) => order.with_attachment(Attachment {
            path: format!("/{phone_number_id}/media"),
            member: kind,
            media_type: file.media_type.unwrap_or_else(|| "application/octet-stream".into()),
            name,
            content: file.content,
        }),
    })
}

fn whatsapp_type(
    kind: MediaKind,
    content: &Value,
    file: Option<&FormFile>,
) -> Result<&'static str, MessageError> {
    const KINDS: [&str; 4] = ["image", "video", "audio", "document"];
    match (kind, content.get("mediaType"), file) {
        (MediaKind::Audio, ..) => Ok("audio"),
        (MediaKind::Document, ..) => Ok("document"),
        (MediaKind::Any, Some(said), _) => {
            KINDS.into_iter().find(|kind| said.as_str() == Some(kind)).ok_or(MEDIA_TYPE)
        }
        (MediaKind::Any, None, None) => Ok("image"),
        (MediaKind::Any, None, Some(file)) => {
            let top = file.media_type.as_deref().and_then(|media_type| media_type.split('/').next());
            Ok(KINDS[..3].iter().find(|kind| top == Some(kind)).copied().unwrap_or("document"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: &str = "5511999990001";

    fn body(kind: MediaKind, content: Value) -> Result<Value, &'static str> {
        let order = media("1", kind, &content, None).map_err(|error| error.member)?;
        Ok(serde_json::from_str(&order.outbound("ref", None).body).unwrap())
    }

    #[test]
    fn links_are_passed_on_by_kind() {
        let link = "https://x/y";
        let media = body(MediaKind::Any, json!({"to": TO, "url": link, "caption": "c"})).unwrap();
        assert_eq!(media["image"], json!({"link": link, "caption": "c"}));
        let video = body(MediaKind::Any, json!({"to": TO, "url": link, "mediaType": "video"})).unwrap();
        assert_eq!(video["video"], json!({"link": link}));
        let audio = body(MediaKind::Audio, json!({"to": TO, "url": link, "caption": "c"})).unwrap();
        assert_eq!(audio["audio"], json!({"link": link}));
        let nota = json!({"to": TO, "url": link, "filename": "n.pdf"});
        let document = body(MediaKind::Document, nota).unwrap();
        assert_eq!(document["document"], json!({"link": link, "filename": "n.pdf"}));
    }

    #[test]
    fn mistakes_are_named() {
        for (content, expected) in [
            (json!({"to": TO}), "url"),
            (json!({"to": TO, "url": "ftp://x"}), "url"),
            (json!({"to": TO, "url": "https://x", "caption": 1}), "caption"),
            (json!({"to": TO, "url": "https://x", "caption": "x".repeat(1025)}), "caption"),
            (json!({"to": TO, "url": "https://x", "filename": ""}), "filename"),
            (json!({"to": TO, "url": "https://x", "mediaType": "sticker"}), "mediaType"),
        ] {
            assert_eq!(body(MediaKind::Any, content).unwrap_err(), expected);
        }
    }
}
