internal import DavitXML

/// Writes the lock properties of RFC 4918 §15.8 and §15.10.
public enum LockDiscoveryWriter {
    /// Returns the body of a LOCK response (§9.10.1).
    /// - Parameter locks: the locks on the resource. The new or refreshed one must be last, because Finder
    ///   uses the last one, and git supports only one.
    public static func lockResponse(_ locks: [ActiveLock]) -> [UInt8] {
        let output = XMLOutput()
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:prop xmlns:D="DAV:">"#)
        write(locks, to: output)
        output.markup("</D:prop>")
        return output.drain()
    }

    /// Writes the property `lockdiscovery`, which is empty without locks; the prefix `D` must be declared.
    static func write(_ locks: [ActiveLock], to output: XMLOutput) {
        if locks.isEmpty { return output.markup("<D:lockdiscovery/>") }
        output.open("lockdiscovery")
        for lock in locks { write(lock, to: output) }
        output.close("lockdiscovery")
    }

    /// Writes the property `supportedlock`: exclusive and shared write locks.
    static func writeSupportedLock(to output: XMLOutput) {
        output.markup(
            """
            <D:supportedlock>\
            <D:lockentry><D:lockscope><D:exclusive/></D:lockscope>\
            <D:locktype><D:write/></D:locktype></D:lockentry>\
            <D:lockentry><D:lockscope><D:shared/></D:lockscope>\
            <D:locktype><D:write/></D:locktype></D:lockentry>\
            </D:supportedlock>
            """)
    }

    private static func write(_ lock: ActiveLock, to output: XMLOutput) {
        switch lock.scope {
        case .exclusive: output.markup("<D:activelock><D:lockscope><D:exclusive/></D:lockscope>")
        case .shared: output.markup("<D:activelock><D:lockscope><D:shared/></D:lockscope>")
        }
        output.markup("<D:locktype><D:write/></D:locktype><D:depth>")
        output.markup(lock.depth.text)
        output.markup("</D:depth>")
        if let owner = lock.owner { output.bytes(owner.element) }
        output.markup("<D:timeout>Second-")
        output.number(max(0, lock.remainingSeconds))
        output.markup("</D:timeout><D:locktoken><D:href>")
        output.escaped(lock.token.uri)
        output.markup("</D:href></D:locktoken><D:lockroot><D:href>")
        output.bytes(Href.sanitize(lock.rootHref))
        output.markup("</D:href></D:lockroot></D:activelock>")
    }
}

extension MultistatusWriter {
    /// Writes the property `lockdiscovery` (§15.8).
    public func lockDiscovery(_ locks: [ActiveLock]) {
        openPropStat()
        LockDiscoveryWriter.write(locks, to: output)
    }

    /// Writes the property `supportedlock` (§15.10).
    public func supportedLock() {
        openPropStat()
        LockDiscoveryWriter.writeSupportedLock(to: output)
    }
}
