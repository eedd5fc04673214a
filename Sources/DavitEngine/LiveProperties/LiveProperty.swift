internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The live properties (RFC 4918 §15, RFC 3253 §3.1, RFC 3744, RFC 4331, RFC 5323 §3.3, RFC 5397, RFC 5995, RFC 6578,
/// `executable` of Apache, `checksums` of ownCloud, times of Windows and rclone, and properties of davit).
enum LiveProperty: CaseIterable, Sendable {
    case creationdate, displayname, getcontentlength, getcontenttype, getetag, getlastmodified
    case lockdiscovery, resourcetype, supportedlock
    case quotaAvailableBytes, quotaUsedBytes
    case executable
    case addMember
    case supportedReportSet, syncToken
    /// The property of RFC 5397, and properties of RFC 3744 that do not require access control.
    case currentUserPrincipal, currentUserPrivilegeSet, supportedPrivilegeSet, principalCollectionSet
    /// The access control list, for clients with the right to manage it.
    case acl
    /// Properties of principals only (RFC 3744 §4).
    case principalURL, alternateURISet, groupMembership
    /// The modification time for Windows, in the format of `getlastmodified`, and for rclone, in seconds since 1970.
    case win32LastModifiedTime, lastmodified
    /// The known digests of the current content.
    case checksums
    case supportedQueryGrammarSet
    /// The accounts of the owners and the creation times of the locks in `lockdiscovery`.
    case lockDetails
    /// What the client may do with the resource, as a number.
    case rights

    init?(_ name: PropertyName) {
        guard let property = Self.byName[name] else { return nil }
        self = property
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    static let executableNamespace = "http://apache.org/dav/props/"

    static let windowsNamespace = "urn:schemas-microsoft-com:"

    var name: PropertyName {
        switch self {
        case .creationdate: .dav("creationdate")
        case .displayname: .dav("displayname")
        case .getcontentlength: .dav("getcontentlength")
        case .getcontenttype: .dav("getcontenttype")
        case .getetag: .dav("getetag")
        case .getlastmodified: .dav("getlastmodified")
        case .lockdiscovery: .dav("lockdiscovery")
        case .resourcetype: .dav("resourcetype")
        case .supportedlock: .dav("supportedlock")
        case .quotaAvailableBytes: .dav("quota-available-bytes")
        case .quotaUsedBytes: .dav("quota-used-bytes")
        case .addMember: .dav("add-member")
        case .supportedReportSet: .dav("supported-report-set")
        case .syncToken: .dav("sync-token")
        case .currentUserPrincipal: .dav("current-user-principal")
        case .currentUserPrivilegeSet: .dav("current-user-privilege-set")
        case .supportedPrivilegeSet: .dav("supported-privilege-set")
        case .principalCollectionSet: .dav("principal-collection-set")
        case .acl: .dav("acl")
        case .principalURL: .dav("principal-URL")
        case .alternateURISet: .dav("alternate-URI-set")
        case .groupMembership: .dav("group-membership")
        case .lastmodified: .dav("lastmodified")
        case .win32LastModifiedTime:
            PropertyName(namespace: Self.windowsNamespace, local: "Win32LastModifiedTime")
        case .executable: PropertyName(namespace: Self.executableNamespace, local: "executable")
        case .checksums: PropertyName(namespace: Self.ownCloudNamespace, local: "checksums")
        case .supportedQueryGrammarSet: .dav("supported-query-grammar-set")
        case .lockDetails:
            PropertyName(namespace: LockDetailsWriter.namespace.description, local: "lock-details")
        case .rights: PropertyName(namespace: LockDetailsWriter.namespace.description, local: "rights")
        }
    }

    /// Whether the value may be stored in a row of the database; see ``ResourceRows/keep(_:at:of:)``.
    var mayHaveRow: Bool { self == .checksums || self == .creationdate || self == .displayname }

    /// Whether allprop includes the property: only the live properties of RFC 4918. Some of the others are
    /// expensive to compute, and several are excluded by their RFCs (RFC 4331 §2, RFC 3253 §3.1, RFC 6578 §4).
    var isInAllprop: Bool {
        switch self {
        case .creationdate, .displayname, .getcontentlength, .getcontenttype, .getetag, .getlastmodified,
            .lockdiscovery, .resourcetype, .supportedlock:
            true
        default: false
        }
    }

    /// Whether a resource of this type and name has the property. For properties that depend on the share, the
    /// client or rows of the database, ``PropertyResponses`` makes the final decision.
    func exists(of member: Member) -> Bool {
        switch self {
        case .getcontentlength, .getetag, .executable, .checksums: !member.info.isCollection
        case .addMember, .syncToken: member.info.isCollection
        // The root of a share has no name by default; a client can set one.
        case .displayname: !member.name.isEmpty
        case .principalURL, .alternateURISet, .groupMembership, .acl: false
        case .creationdate, .getcontenttype, .getlastmodified, .lockdiscovery, .resourcetype, .supportedlock,
            .quotaAvailableBytes, .quotaUsedBytes, .supportedQueryGrammarSet, .supportedReportSet,
            .win32LastModifiedTime, .lastmodified, .currentUserPrincipal, .currentUserPrivilegeSet,
            .supportedPrivilegeSet, .principalCollectionSet, .lockDetails, .rights:
            true
        }
    }
}
