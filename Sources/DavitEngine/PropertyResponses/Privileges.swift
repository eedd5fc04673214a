internal import DavitAccess

/// The privileges of a client (RFC 3744 §3). They depend on the rights of the client or, without an access policy, only on
/// the configuration of the share. Principals are read-only. They do not reflect the permissions of the
/// file system, which a client notices only when a request fails.
///
/// `unlock`, which permits breaking the locks of other users, and `read-acl` exist only with an access policy. `write-acl` is
/// omitted because there is no ACL method. `all` is abstract and only aggregates the others.
enum Privileges {
    /// Returns the privileges that rights grant to a resource.
    static func granted(by rights: Rights, isCollection: Bool, isReadOnly: Bool) -> [UInt8] {
        var names: [StaticString] = []
        if rights.contains(isCollection ? .list : .read) { names.append("read") }
        names.append("read-current-user-privilege-set")
        if rights.contains(.manage) { names.append("read-acl") }
        if !isReadOnly {
            if rights.contains(.manage) { names.append("unlock") }
            if rights.contains(.change) {
                names.append("write-properties")
                if !isCollection { names.append("write-content") }
            }
            if isCollection {
                if rights.contains(.create) { names.append("bind") }
                if rights.contains(.delete) { names.append("unbind") }
                if rights.isSuperset(of: [.create, .change, .delete]) { names.append("write") }
            } else if rights.contains(.change) {
                names.append("write")
            }
        }
        return names.flatMap { Array("<D:privilege><D:\($0)/></D:privilege>".utf8) }
    }

    /// All privileges that an access control entry can deny: the topmost ones that are not abstract.
    static let denied = ["read", "write", "unlock", "read-acl"].flatMap {
        Array("<D:privilege><D:\($0)/></D:privilege>".utf8)
    }

    static let reading: StaticString = """
        <D:privilege><D:read/></D:privilege>\
        <D:privilege><D:read-current-user-privilege-set/></D:privilege>
        """

    static let writing: StaticString = """
        <D:privilege><D:read/></D:privilege>\
        <D:privilege><D:read-current-user-privilege-set/></D:privilege>\
        <D:privilege><D:write/></D:privilege>\
        <D:privilege><D:write-properties/></D:privilege>\
        <D:privilege><D:write-content/></D:privilege>\
        <D:privilege><D:bind/></D:privilege>\
        <D:privilege><D:unbind/></D:privilege>
        """

    /// The privilege tree of RFC 3744 §5.3.
    static let supported: StaticString = """
        <D:supported-privilege><D:privilege><D:all/></D:privilege><D:abstract/>\
        <D:description xml:lang="en">All operations</D:description>\
        <D:supported-privilege><D:privilege><D:read/></D:privilege>\
        <D:description xml:lang="en">Read content and properties</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:read-current-user-privilege-set/></D:privilege>\
        <D:description xml:lang="en">Read current user privileges</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:write/></D:privilege>\
        <D:description xml:lang="en">Change content, properties and members</D:description>\
        <D:supported-privilege><D:privilege><D:write-properties/></D:privilege>\
        <D:description xml:lang="en">Change properties</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:write-content/></D:privilege>\
        <D:description xml:lang="en">Change content</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:bind/></D:privilege>\
        <D:description xml:lang="en">Add members</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:unbind/></D:privilege>\
        <D:description xml:lang="en">Remove members</D:description></D:supported-privilege>\
        </D:supported-privilege></D:supported-privilege>
        """

    /// ``supported``, and the privileges that exist only with an access policy.
    static let supportedWithRights: [UInt8] = {
        let end = "</D:supported-privilege>"
        let more = [("unlock", "Break the locks of other users"), ("read-acl", "Read access control lists")]
        let text = more.map { name, description in
            "<D:supported-privilege><D:privilege><D:\(name)/></D:privilege>"
                + "<D:description xml:lang=\"en\">\(description)</D:description>\(end)"
        }
        return Array((supported.description.dropLast(end.count) + text.joined() + end).utf8)
    }()
}
