internal import DavitXML

/// A message of WS-Discovery or WS-Transfer that a device answers.
struct WSDRequest: Hashable, Sendable {
    /// What the sender asks for.
    enum Question: Hashable, Sendable {
        /// Which devices have all of these types, and scopes.
        case probe(types: [WSDType], hasScopes: Bool)
        /// Where the device with this address can be reached.
        case resolve(address: String)
        /// The metadata of the device.
        case get
    }

    /// The name of a type.
    struct WSDType: Hashable, Sendable {
        var namespace: String
        var local: String

        /// A device of the Devices Profile.
        static let device = WSDType(namespace: WSDNames.profile, local: "Device")
    }

    var question: Question
    /// The identifier that the answer refers to.
    var messageID: String

    /// The reason why a message has no answer.
    enum Refusal: Error, Hashable, Sendable {
        case malformed(XMLError)
        /// Not an envelope of SOAP 1.2 with the elements that WS-Addressing requires.
        case notAnEnvelope
        /// An action that needs no answer, such as Hello.
        case otherAction
        /// A probe with more than ``WSDRequest/typeLimit`` types, or with a type whose prefix is not declared.
        case unusableTypes
    }

    /// The maximum length of a message in bytes. SOAP-over-UDP recommends less than 1,500; those of Windows have about 1,000.
    static let limitBytes = 8 << 10
    static let typeLimit = 16
    private static let textLimit = 512

    private static var limits: XMLLimits {
        var limits = XMLLimits()
        limits.bytes = limitBytes
        limits.depth = 16
        limits.attributes = 32
        limits.declarations = 64
        limits.nodes = 256
        limits.nameBytes = 256
        return limits
    }

    init(parsing bytes: [UInt8]) throws(Refusal) {
        let document: XMLDocument
        do throws(XMLError) { document = try XMLDocument.parse(bytes, limits: Self.limits) } catch {
            throw .malformed(error)
        }
        guard document.root.isNamed("Envelope", in: WSDNames.envelope),
            let header = document.root.child("Header", in: WSDNames.envelope),
            let action = header.child("Action", in: WSDNames.addressing)?.trimmedText,
            let id = header.child("MessageID", in: WSDNames.addressing)?.trimmedText,
            (1...Self.textLimit).contains(id.utf8.count),
            let body = document.root.child("Body", in: WSDNames.envelope)
        else { throw .notAnEnvelope }
        messageID = id
        switch action {
        case "\(WSDNames.discovery)/Probe":
            guard let probe = body.child("Probe", in: WSDNames.discovery) else { throw .notAnEnvelope }
            let scopes = probe.child("Scopes", in: WSDNames.discovery)?.trimmedText ?? ""
            question = .probe(types: try Self.types(of: probe), hasScopes: !scopes.isEmpty)
        case "\(WSDNames.discovery)/Resolve":
            guard let resolve = body.child("Resolve", in: WSDNames.discovery),
                let reference = resolve.child("EndpointReference", in: WSDNames.addressing),
                let address = reference.child("Address", in: WSDNames.addressing)?.trimmedText
            else { throw .notAnEnvelope }
            question = .resolve(address: address)
        case WSDNames.get: question = .get
        default: throw .otherAction
        }
    }

    private static func types(of probe: XMLElement) throws(Refusal) -> [WSDType] {
        guard let element = probe.child("Types", in: WSDNames.discovery) else { return [] }
        let names = element.text.split(whereSeparator: \.isWhitespace)
        guard names.count <= typeLimit else { throw .unusableTypes }
        var types: [WSDType] = []
        for name in names {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            let prefix = parts.count == 2 ? String(parts[0]) : ""
            guard parts.count <= 2, let local = parts.last, let namespace = element.namespace(of: prefix)
            else {
                throw .unusableTypes
            }
            types.append(WSDType(namespace: namespace, local: String(local)))
        }
        return types
    }
}

extension XMLElement {
    fileprivate func child(_ local: StaticString, in namespace: StaticString) -> XMLElement? {
        var child = firstChild
        while let current = child {
            if current.isNamed(local, in: namespace) { return current }
            child = current.next
        }
        return nil
    }

    fileprivate var trimmedText: String {
        let text = text
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
