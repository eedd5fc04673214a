/// What a client may do, in the terms of RFC 3744 §3. The rules of the share decide, for all of its resources; what
/// the file system refuses beyond them shows when it is tried.
///
/// Not among them: `unlock`, since nobody may end the lock of somebody else here, and `read-acl` and `write-acl`, since
/// there are no lists. `all` is abstract: it is there to hold the others.
enum Privileges {
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

    /// The tree of RFC 3744 §5.3.
    static let supported: StaticString = """
        <D:supported-privilege><D:privilege><D:all/></D:privilege><D:abstract/>\
        <D:description xml:lang="en">Everything</D:description>\
        <D:supported-privilege><D:privilege><D:read/></D:privilege>\
        <D:description xml:lang="en">Read content and properties</D:description></D:supported-privilege>\
        <D:supported-privilege><D:privilege><D:read-current-user-privilege-set/></D:privilege>\
        <D:description xml:lang="en">Read what one may do</D:description></D:supported-privilege>\
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
}
