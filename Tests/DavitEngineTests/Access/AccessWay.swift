import DavitAccess
import Testing

/// A way in: a request, and the rights that it needs. The rows are in ``AccessWay/all``.
struct AccessWay: Sendable, CustomTestStringConvertible {
    /// Where a right is needed.
    enum Site: Sendable {
        /// At the target, and at the name by which the client addresses it.
        case target
        /// In the tested folder, without regard to links on the way.
        case folder
        /// In the folder `/open`.
        case open
    }

    struct Need: Sendable {
        /// One of these is sufficient.
        let rights: Rights
        var site = Site.target
        /// Whether the request would create or replace a resource, so that 403 reveals nothing.
        var creates = false
    }

    /// What exists before the request, made by a client with all rights.
    enum Preparation: Sendable {
        case nothing
        /// An upload of 4 bytes to `P/new` that the tested client has begun with tus.
        case tusUpload
        /// A complete part of an upload.
        case tusPart
        /// An upload to `P/new` that the tested client has begun with the draft.
        case draftUpload
        /// A lock of the tested client on `P/f`.
        case ownLock
        /// A lock of another client on `P/f`.
        case otherLock
        /// `P/t` in the trash.
        case trashed
    }

    /// The method, and what distinguishes the row.
    let name: String
    /// The target and the fields: `P` stands for the path of the place, `{0}` for what was prepared: a URL, a lock token or
    /// an id.
    let target: String
    var fields: [(String, String)] = []
    var body = ""
    /// In the order in which they are checked.
    let needs: [Need]
    let success: Int
    var preparation = Preparation.nothing
    var needsJournal = false
    /// A part of the body of a successful response that only clients with the right to list may see.
    var reveals: String?
    /// Whether the method addresses the resource that it needs rights to, so that Allow must contain it for exactly the
    /// clients who may use it.
    var isAnnounced = false
    /// Whether the client sends a form to a folder, which must be visible.
    var isToFolder = false

    var testDescription: String { name }
    var method: String { String(name.split(separator: " ")[0]) }

    /// The sets of rights to test: all combinations of the relevant ones, with and without all others, each right alone,
    /// and all but each one.
    var sets: [Rights] {
        var relevant: [Right] = [.list]
        for need in needs where need.rights != Self.any {
            relevant += Right.allCases.filter { need.rights.contains($0) && !relevant.contains($0) }
        }
        var sets: Set<Rights> = []
        let others = relevant.reduce(Rights.all) { $0.subtracting(Rights($1)) }
        for bits in 0..<(1 << relevant.count) {
            let chosen = relevant.indices.filter { bits & (1 << $0) != 0 }.map { Rights(relevant[$0]) }
            let rights = chosen.reduce(Rights.none) { $0.union($1) }
            sets.formUnion([rights, rights.union(others)])
        }
        for right in Right.allCases {
            sets.formUnion([Rights(right), Rights.all.subtracting(Rights(right))])
        }
        return sets.sorted { $0.rawValue < $1.rawValue }
    }

    static let any = Rights.all
}

extension AccessWay.Need {
    /// A right to what exists.
    static func has(_ rights: Rights, _ site: AccessWay.Site = .target) -> Self {
        Self(rights: rights, site: site)
    }

    /// A right to create or to replace.
    static func makes(_ rights: Rights, _ site: AccessWay.Site = .folder) -> Self {
        Self(rights: rights, site: site, creates: true)
    }
}
