internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What becomes of `getcontentlanguage` when content is replaced (RFC 4918 §15.3).
enum LanguageChange: Sendable {
    case set(ContentLanguage)
    case removed

    /// As a change of the rows at `path`.
    func row(at path: ResourcePath) -> StateChange {
        switch self {
        case .set(let language): .setProperty(path, StoredProperty(language))
        case .removed: .removeProperty(path, .contentLanguage)
        }
    }

    /// The form in which an intent has it.
    fileprivate var text: String {
        if case .set(let language) = self { language.description } else { "" }
    }
}

/// The steps by which the language changes together with the content.
struct LanguageUpdate: Sendable {
    /// Committed before the content is replaced.
    let rowsBefore: [StateChange]
    /// Completes the change once the content is in place; nil if ``rowsBefore`` is all there is to do.
    fileprivate let intent: Intent?
    fileprivate let path: ResourcePath
    fileprivate let identity: ResourceIdentity

    /// Without other rows, rows that hold for the new content alone are enough. Other rows hold for both contents until
    /// one has replaced the other, and the language must not: an intent says what it becomes, so that a crash leaves each
    /// content with its own.
    init(
        _ change: LanguageChange, at path: ResourcePath, over old: ResourceInfo?, as new: ResourceInfo,
        in share: Share
    ) {
        self.path = path
        identity = new.identity
        guard old != nil, share.state.hasRows(at: path) else {
            rowsBefore = [.bind(path, current: new.identity, pending: nil), change.row(at: path)]
            intent = nil
            return
        }
        let intent = Intent(
            id: share.state.nextIntentID(), source: path, destination: path, moved: new.identity,
            replaced: nil, isCopy: false, contentLanguage: change.text)
        self.intent = intent
        rowsBefore = [.putIntent(intent)]
    }
}

extension Share {
    /// What a PUT of all of the content does to `getcontentlanguage`; nil if it stays as it is. No query where neither the
    /// content that is there nor the new one has a language.
    func languageChange(
        to language: ContentLanguage?, at path: ResourcePath, of old: ResourceInfo?
    ) throws(StoreError) -> LanguageChange? {
        var current: ContentLanguage?
        if let old, state.hasContentLanguage(at: path) {
            do throws(StateError) {
                let stored = try state.properties(at: path, identity: old.identity)
                // A value that no field can have goes as well.
                if language == nil, stored.contains(where: { $0.name == .contentLanguage }) {
                    return .removed
                }
                current = stored.contentLanguage
            } catch {
                throw StoreError(error)
            }
        }
        guard let language, language != current else { return nil }
        return .set(language)
    }

    /// Replaces content whose ``LanguageUpdate/rowsBefore`` are committed, and finishes or withdraws these.
    func publishing<R>(
        _ update: LanguageUpdate?, _ publish: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard let update else { return try publish() }
        do throws(StoreError) {
            let result = try publish()
            finish(update)
            return result
        } catch {
            if (try? resources.identity(at: update.path)) == update.identity {
                // The content is in place, although it may not be on the disk.
                finish(update)
            } else if let intent = update.intent {
                forget(intent)
            } else {
                dropRows(under: update.path)
            }
            throw error
        }
    }

    /// The content is in place already: a fault here is reported, not answered.
    private func finish(_ update: LanguageUpdate) {
        guard let intent = update.intent else { return }
        let changes = intent.rowsAfterwards
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("the language of new content could not be stored yet: \(error)")
        }
    }

    /// What GET says in Content-Language of stored content; nil without one. Answered from memory where there is none.
    /// - Parameter path: canonical.
    func contentLanguage(
        at path: ResourcePath, of info: ResourceInfo
    ) async throws(WebDAVError) -> ContentLanguage? {
        guard state.hasContentLanguage(at: path) else { return nil }
        let state = state
        let language = try await offload { () throws(WebDAVError) in
            do throws(StateError) {
                return try state.properties(at: path, identity: info.identity).contentLanguage
            } catch {
                throw WebDAVError(state: error)
            }
        }
        return language?.tags.isEmpty == true ? nil : language
    }
}

extension Intent {
    /// What an intent of a change of the language does; nil for other intents.
    var languageChange: LanguageChange? {
        guard let contentLanguage else { return nil }
        let text = Array(contentLanguage.utf8)
        guard let language = ContentLanguage(parsing: text.span), !language.tags.isEmpty else {
            return .removed
        }
        return .set(language)
    }
}
