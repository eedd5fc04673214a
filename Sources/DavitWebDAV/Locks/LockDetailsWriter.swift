internal import DavitHTTP
internal import DavitXML

/// What `lockdiscovery` has no place for: who holds a lock, by the account, and since when.
public enum LockDetailsWriter {
    /// The namespace of what is davit's own.
    public static let namespace: StaticString = "urn:davit:property"

    /// The property, where the prefix `D` is declared; a `lock` for each of the locks of `lockdiscovery`, in that order.
    static func write(_ locks: [ActiveLock], to output: XMLOutput) {
        output.markup(#"<N:lock-details xmlns:N="urn:davit:property">"#)
        for lock in locks {
            output.markup("<N:lock><D:locktoken><D:href>")
            output.escaped(lock.token.uri)
            output.markup("</D:href></D:locktoken>")
            if let principal = lock.principal {
                output.markup("<N:principal>")
                output.escaped(principal)
                output.markup("</N:principal>")
            }
            if let created = lock.created {
                output.markup("<N:created>")
                output.bytes(HTTPDate.iso8601(created))
                output.markup("</N:created>")
            }
            output.markup("</N:lock>")
        }
        output.markup("</N:lock-details>")
    }
}

extension MultistatusWriter {
    /// The property `lock-details` in the namespace `urn:davit:property`.
    public func lockDetails(_ locks: [ActiveLock]) {
        openPropStat()
        LockDetailsWriter.write(locks, to: output)
    }
}
