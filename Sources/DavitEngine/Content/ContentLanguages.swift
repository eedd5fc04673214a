internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A change of `getcontentlanguage` that is made together with a change of the content.
struct LanguageUpdate: Sendable {
    /// The rows to commit before the content is replaced.
    let rowsBefore: [StateChange]
    /// Completes the change after the content is replaced; nil if ``rowsBefore`` suffices.
    fileprivate let intent: RenameIntent?
    fileprivate let path: ResourcePath
    fileprivate let identity: ResourceIdentity

    /// Creates the update.
    ///
    /// If there are no rows of old content, rows bound to the new content suffice. Otherwise the rows are bound to both
    /// the old and the new content during the replacement, but the new language applies only to the new content. An
    /// intent therefore records the language; after a crash, it is applied only if the content has been replaced.
    init(
        _ change: LanguageChange, at path: ResourcePath, over old: ResourceInfo?, as new: ResourceInfo,
        in state: any ShareState
    ) {
        self.path = path
        identity = new.identity
        guard old != nil, state.hasRows(at: path) else {
            rowsBefore = [.bind(path, current: new.identity, pending: nil), change.row(at: path)]
            intent = nil
            return
        }
        let intent = RenameIntent(
            id: state.nextIntentID(), source: path, destination: path, moved: new.identity,
            replaced: nil, isCopy: false, contentLanguage: change.text)
        self.intent = intent
        rowsBefore = [.putIntent(intent)]
    }
}

/// Reads `getcontentlanguage`, and changes it together with the content.
final class ContentLanguages: Sendable {
    private let resources: any ResourceStore
    private let state: any ShareState
    private let rows: ResourceRows
    private let intents: RenameIntents
    private let work: BlockingWork

    init(
        _ resources: any ResourceStore, _ state: any ShareState, _ rows: ResourceRows,
        _ intents: RenameIntents,
        _ work: BlockingWork
    ) {
        self.resources = resources
        self.state = state
        self.rows = rows
        self.intents = intents
        self.work = work
    }

    /// Returns the change of `getcontentlanguage` when the entire content is replaced; nil if it stays the same. Queries
    /// the database only if the resource has a language.
    /// - Parameter language: the language of the new content; nil if the client specified none.
    func change(
        to language: ContentLanguage?, at path: ResourcePath, of old: ResourceInfo?
    ) throws(StoreError) -> LanguageChange? {
        var current: ContentLanguage?
        if let old, state.hasContentLanguage(at: path) {
            do throws(StateError) {
                let stored = try state.properties(at: path, identity: old.identity)
                // Also remove a value that is invalid as a header field.
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

    /// Replaces content after ``LanguageUpdate/rowsBefore`` have been committed, and completes or reverts the
    /// language change.
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
                // The content was replaced, although it may not be durable yet.
                finish(update)
            } else if let intent = update.intent {
                intents.forget(intent)
            } else {
                rows.drop(under: update.path)
            }
            throw error
        }
    }

    /// Completes the change. The content has already been replaced, so an error is only logged, and the commit is
    /// retried with the next one.
    private func finish(_ update: LanguageUpdate) {
        guard let intent = update.intent else { return }
        rows.commitOrRetry(
            intent.rowsAfterwards,
            failure: "cannot store the Content-Language of new content; retrying later")
    }

    /// Whether an open resource has a Content-Language. Does not query the database.
    /// - Parameter path: the canonical path.
    func has(_ resource: OpenResource, at path: ResourcePath) -> Bool {
        resource.hasContentLanguage ?? state.hasContentLanguage(at: path)
    }

    /// Returns the Content-Language of stored content for GET, if any. Queries the database only if the resource has
    /// one.
    /// - Parameter path: the canonical path.
    func language(
        at path: ResourcePath, of resource: OpenResource
    ) async throws(WebDAVError) -> ContentLanguage? {
        guard has(resource, at: path) else { return nil }
        let (state, info) = (state, resource.info)
        let language = try await work.run { () throws(WebDAVError) in
            do throws(StateError) {
                return try state.properties(at: path, identity: info.identity).contentLanguage
            } catch {
                throw WebDAVError(state: error)
            }
        }
        return language?.tags.isEmpty == true ? nil : language
    }
}
