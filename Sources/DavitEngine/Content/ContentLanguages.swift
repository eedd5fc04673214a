internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The steps that change the language together with the content.
struct LanguageUpdate: Sendable {
    /// The rows to commit before the content is replaced.
    let rowsBefore: [StateChange]
    /// Completes the change after the content is replaced; nil if ``rowsBefore`` suffices.
    fileprivate let intent: RenameIntent?
    fileprivate let path: ResourcePath
    fileprivate let identity: ResourceIdentity

    /// If the resource has no rows, rows bound to the new content suffice. Existing rows are valid for both
    /// the old and the new content during the replacement, but the language is not: an intent records the new
    /// language, so that after a crash the language belongs to the content in place.
    init(
        _ change: LanguageChange, at path: ResourcePath, over old: ResourceInfo?, as new: ResourceInfo,
        in state: ShareState
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

/// Changes `getcontentlanguage` together with content, and reads it.
final class ContentLanguages: Sendable {
    private let resources: any ResourceStore
    private let state: ShareState
    private let rows: ResourceRows
    private let intents: RenameIntents
    private let work: BlockingWork

    init(
        _ resources: any ResourceStore, _ state: ShareState, _ rows: ResourceRows, _ intents: RenameIntents,
        _ work: BlockingWork
    ) {
        self.resources = resources
        self.state = state
        self.rows = rows
        self.intents = intents
        self.work = work
    }

    /// Returns how `getcontentlanguage` changes when the entire content is replaced; nil if it does not.
    /// Queries the database only if the resource already has a language.
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

    /// Completes the change. The content has been replaced already, so errors are only reported.
    private func finish(_ update: LanguageUpdate) {
        guard let intent = update.intent else { return }
        rows.commitOrRetry(
            intent.rowsAfterwards, failure: "Content-Language could not be stored yet; will retry")
    }

    /// Returns the Content-Language of stored content for GET; nil without one. Needs no query if there is
    /// none.
    /// - Parameter path: the canonical path.
    func language(
        at path: ResourcePath, of info: ResourceInfo
    ) async throws(WebDAVError) -> ContentLanguage? {
        guard state.hasContentLanguage(at: path) else { return nil }
        let state = state
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
