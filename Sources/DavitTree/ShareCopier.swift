package import DavitHTTP
internal import DavitServer
package import DavitStore
internal import DavitWebDAV

/// Copies all resources of one share to another one, with their properties: between a folder and a database.
///
/// A copy that was interrupted continues when it runs again: content that has the same length and modification time, in
/// seconds, is not copied. Nothing is removed from the target.
package struct ShareCopier {
    /// One of the two shares.
    package struct Side {
        let resources: any ResourceStore
        let state: any ShareState
        /// Nil if a change needs no transaction.
        let sessions: (any StoreSessions)?

        package init(
            _ resources: any ResourceStore, _ state: any ShareState, _ sessions: (any StoreSessions)?
        ) {
            self.resources = resources
            self.state = state
            self.sessions = sessions
        }
    }

    /// What happens to one resource.
    package enum Event {
        /// Content was copied.
        /// - Parameter digest: its SHA-256; nil if this build has none.
        case copied(ResourcePath, length: Int64, digest: [UInt8]?)
        /// The target has the content already.
        case unchanged(ResourcePath)
        /// A resource could not be copied, with everything below it.
        case failed(ResourcePath, StoreError)
        /// A link to a folder was left out.
        case leftOut(ResourcePath)
    }

    private let source: Side
    private let target: Side
    private let notify: (Event) -> Void
    private let buffer = IOBuffer(capacity: 1 << 20)

    /// - Parameter notify: called for each resource.
    package init(from source: Side, to target: Side, notify: @escaping (Event) -> Void) {
        self.source = source
        self.target = target
        self.notify = notify
    }

    /// A collection whose members are being copied.
    private struct CopiedCollection {
        let path: ResourcePath
        let info: ResourceInfo
        let cursor: any MemberCursor
    }

    /// Copies all resources. Blocks.
    /// - Throws: an error that concerns more than one resource, for example that the target is full.
    package func copy() throws(StoreError) {
        guard let root = try source.resources.lookup(.root, last: .followed, wait: .allowed).info else {
            throw .notFound
        }
        try copyProperties(at: .root, root)
        var open = [
            CopiedCollection(path: .root, info: root, cursor: try source.resources.members(of: .root))
        ]
        var member = Member()
        while let collection = open.last {
            guard try collection.cursor.next(&member) else {
                // Now, because a folder's time changes with its members.
                try setTime(of: collection)
                open.removeLast()
                continue
            }
            guard let path = collection.path.appending(member.name) else { continue }
            do throws(StoreError) {
                if !member.info.isCollection {
                    try copyContent(at: path, member.info)
                } else if member.canonicalPath != nil {
                    // Following it could be endless.
                    notify(.leftOut(path))
                } else {
                    try makeCollection(at: path)
                    try copyProperties(at: path, member.info)
                    open.append(
                        CopiedCollection(
                            path: path, info: member.info, cursor: try source.resources.members(of: path)))
                }
            } catch {
                guard error.concernsOneResource || error == .alreadyExists else { throw error }
                notify(.failed(path, error))
            }
        }
    }

    // MARK: Resources

    private func makeCollection(at path: ResourcePath) throws(StoreError) {
        let found = try target.resources.lookup(path, last: .followed, wait: .allowed)
        if let info = found.info {
            if !info.isCollection { throw .wrongKind }
            return
        }
        try change(path) { () throws(StoreError) in
            try target.resources.createCollection(at: ResourceLocation(path))
        }
    }

    private func setTime(of collection: CopiedCollection) throws(StoreError) {
        if collection.path.isRoot { return }
        let attributes = ResourceAttributes(modified: collection.info.modified)
        try change(collection.path) { () throws(StoreError) in
            try target.resources.setAttributes(attributes, at: collection.path)
        }
    }

    private func copyContent(at path: ResourcePath, _ info: ResourceInfo) throws(StoreError) {
        let old = try target.resources.lookup(path, last: .followed, wait: .allowed).info
        if old?.isCollection == true { throw .wrongKind }
        if let old, old.length == info.length, old.modified.seconds == info.modified.seconds {
            return notify(.unchanged(path))
        }
        guard let file = try source.resources.openMember(path).content?.file else { throw .notFound }
        let staged = try target.resources.stageContent(for: path, expectedLength: info.length)
        let digest = RunningDigest(.sha256)
        var offset: Int64 = 0
        while true {
            buffer.removeAll()
            let count = try source.resources.read(file, at: offset, into: buffer)
            if count == 0 { break }
            unsafe buffer.withBytes { unsafe digest?.update($0) }
            try staged.write(buffer)
            offset += Int64(count)
        }
        if staged.needsSync { try staged.sync() }
        try change(path) { () throws(StoreError) in
            let new = try staged.seal(replacing: old, modified: info.modified)
            try staged.publish(isReplacing: old != nil)
            if info.isExecutable != new.isExecutable {
                try target.resources.setAttributes(
                    ResourceAttributes(isExecutable: info.isExecutable), at: path)
            }
        }
        try copyProperties(at: path, info)
        notify(.copied(path, length: offset, digest: digest?.finish()?.bytes))
    }

    private func copyProperties(at path: ResourcePath, _ info: ResourceInfo) throws(StoreError) {
        let properties: [StoredProperty]
        do throws(StateError) {
            properties = try source.state.properties(at: path, identity: info.identity)
        } catch {
            throw .failed(reason: error.text)
        }
        if properties.isEmpty { return }
        guard let copy = try target.resources.lookup(path, last: .followed, wait: .allowed).info else {
            return
        }
        var changes = [StateChange.bind(path, current: copy.identity, pending: nil)]
        changes += properties.map { .setProperty(path, $0) }
        do throws(StateError) { try target.state.commit(changes) } catch {
            throw .failed(reason: error.text)
        }
    }

    // MARK: Changes

    /// How often a change is tried that others are in the way of.
    private static let attemptLimit = 8

    /// Runs a change of one resource, as a transaction if the target has any.
    private func change(
        _ path: ResourcePath, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let sessions = target.sessions else { return try body() }
        var attempt = 0
        while true {
            attempt += 1
            let result: Result<Void, StoreError>
            do throws(StoreSessionError) {
                result = try sessions.change([PathUse(path, isExclusive: true)]) {
                    () -> (value: Result<Void, StoreError>, commits: Bool) in
                    do throws(StoreError) {
                        try body()
                        return (.success(()), true)
                    } catch {
                        return (.failure(error), false)
                    }
                }
            } catch {
                switch error {
                case .conflict where attempt < Self.attemptLimit: continue
                case .conflict: throw .busy
                case .failed(let error): throw error
                }
            }
            return try result.get()
        }
    }
}
