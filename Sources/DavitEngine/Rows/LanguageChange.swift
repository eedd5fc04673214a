internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The change to `getcontentlanguage` when content is replaced (RFC 4918 §15.3).
enum LanguageChange: Sendable {
    case set(ContentLanguage)
    case removed

    /// Returns the change of the row at `path`.
    func row(at path: ResourcePath) -> StateChange {
        switch self {
        case .set(let language): .setProperty(path, StoredProperty(language))
        case .removed: .removeProperty(path, .contentLanguage)
        }
    }

    /// The text stored in an intent: the language tags, or an empty string for ``removed``.
    var text: String {
        if case .set(let language) = self { language.description } else { "" }
    }
}

extension RenameIntent {
    /// The language change that the intent records; nil for other intents.
    var languageChange: LanguageChange? {
        guard let contentLanguage else { return nil }
        let text = Array(contentLanguage.utf8)
        guard let language = ContentLanguage(parsing: text.span), !language.tags.isEmpty else {
            return .removed
        }
        return .set(language)
    }
}
