internal import CXML2

/// Records the first error that libxml2 reports to a handler, and prevents it from printing errors.
final class XMLErrorLog {
    private(set) var first: XMLSchemaError?

    /// Records the errors that libxml2 reports on this thread during a call.
    func recording<R>(_ body: () -> R) -> R {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let previous = unsafe davit_xml_set_handler(
            { log, error in
                guard let log = unsafe log, let error = unsafe error else { return }
                unsafe Unmanaged<XMLErrorLog>.fromOpaque(log).takeUnretainedValue().record(error.pointee)
            }, context)
        defer { unsafe davit_xml_restore_handlers(previous) }
        return body()
    }

    private func record(_ error: xmlError) {
        guard first == nil, unsafe error.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        var text = unsafe error.message.map { unsafe String(cString: $0) } ?? ""
        while text.last?.isWhitespace == true { text.removeLast() }
        first = XMLSchemaError(message: text, line: unsafe Int(error.line))
    }
}
