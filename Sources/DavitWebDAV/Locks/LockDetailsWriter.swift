internal import DavitHTTP
internal import DavitXML

/// Lock details that `lockdiscovery` cannot express: the account of the lock owner and the creation time.
public enum LockDetailsWriter {
    /// The namespace of properties that davit defines.
    public static let namespace: StaticString = "urn:davit:property"

    /// Writes the property `lock-details`, with a `lock` element for each lock of `lockdiscovery`, in the
    /// same order; the prefix `D` must be declared.
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
    /// Writes the property `lock-details` of the namespace `urn:davit:property`.
    public func lockDetails(_ locks: [ActiveLock]) {
        openPropStat()
        LockDetailsWriter.write(locks, to: output)
    }
}
