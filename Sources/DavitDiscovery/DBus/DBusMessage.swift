/// A message of the D-Bus protocol (D-Bus Specification, "Message Protocol").
struct DBusMessage: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        case call = 1
        case reply, error, signal
    }

    var kind: Kind
    /// Unique among the messages of the sender; greater than 0.
    var serial: UInt32 = 0
    var path: String?
    var interface: String?
    var member: String?
    var errorName: String?
    /// The serial of the message that this one answers.
    var replySerial: UInt32?
    var destination: String?
    var sender: String?
    /// The types of the values in the body.
    var signature = ""
    var body: [UInt8] = []
    var isBigEndian = false
    /// Whether the bus must not start the recipient if it is not running.
    var doesNotStart = false

    init(_ kind: Kind) { self.kind = kind }

    /// Creates a method call.
    /// - Parameter arguments: writes the arguments.
    init(
        calling member: String, of interface: String, at path: String, on destination: String,
        _ arguments: (inout DBusWriter) -> Void = { _ in }
    ) {
        self.init(.call)
        self.path = path
        self.interface = interface
        self.member = member
        self.destination = destination
        var writer = DBusWriter()
        arguments(&writer)
        body = writer.bytes
        signature = writer.signature
    }

    /// Returns a reader of the values in the body.
    var reader: DBusReader { DBusReader(body, isBigEndian: isBigEndian) }
}

extension DBusMessage {
    /// The reason why bytes are not a message.
    enum Malformed: Error, Hashable, Sendable {
        case unknownByteOrder
        case unknownVersion
        /// Longer than ``DBusMessage/limitBytes``.
        case tooLong
        case truncated
        case invalidText
        case invalidHeader
    }

    /// The maximum length of a received message. The protocol permits 128 MiB, but the messages of the bus and of Avahi are
    /// short.
    static let limitBytes = 64 << 10

    /// The length of the part of a message that contains its length.
    private static let prefixBytes = 16

    private enum Field: UInt8 {
        case path = 1
        case interface, member, errorName, replySerial, destination, sender, signature
    }

    /// Returns the length of the message that begins with `bytes`; nil if more bytes are needed to know it.
    static func length(of bytes: [UInt8]) throws(Malformed) -> Int? {
        guard let order = bytes.first else { return nil }
        guard order == UInt8(ascii: "l") || order == UInt8(ascii: "B") else { throw .unknownByteOrder }
        guard bytes.count >= prefixBytes else { return nil }
        var reader = DBusReader(bytes, isBigEndian: order == UInt8(ascii: "B"))
        reader.skip(3)
        if try reader.byte() != 1 { throw .unknownVersion }
        let body = try reader.number()
        reader.skip(4)
        let fields = try reader.number()
        guard body <= UInt32(limitBytes), fields <= UInt32(limitBytes) else { throw .tooLong }
        let head = (prefixBytes + Int(fields) + 7) & ~7
        guard head + Int(body) <= limitBytes else { throw .tooLong }
        return head + Int(body)
    }

    /// Parses a complete message.
    /// - Returns: nil for a message of an unknown kind, which must be ignored.
    init?(parsing bytes: [UInt8]) throws(Malformed) {
        guard let length = try Self.length(of: bytes), bytes.count >= length else { throw .truncated }
        var reader = DBusReader(Array(bytes[..<length]), isBigEndian: bytes[0] == UInt8(ascii: "B"))
        reader.skip(1)
        let kind = Kind(rawValue: try reader.byte())
        reader.skip(2)
        let bodyLength = Int(try reader.number())
        let serial = try reader.number()
        let end = Self.prefixBytes + Int(try reader.number())
        guard let kind else { return nil }
        self.init(kind)
        self.serial = serial
        isBigEndian = reader.isBigEndian
        while reader.offset < end {
            reader.align(8)
            try readField(&reader)
        }
        guard reader.offset == end else { throw .invalidHeader }
        reader.align(8)
        body = Array(bytes[(length - bodyLength)..<length])
    }

    private mutating func readField(_ reader: inout DBusReader) throws(Malformed) {
        let code = try reader.byte()
        let type = try reader.signature()
        switch type {
        case "s", "o":
            let text = try reader.string()
            switch Field(rawValue: code) {
            case .path: path = text
            case .interface: interface = text
            case .member: member = text
            case .errorName: errorName = text
            case .destination: destination = text
            case .sender: sender = text
            case .replySerial, .signature: throw .invalidHeader
            case nil: break
            }
        case "u":
            let number = try reader.number()
            if code == Field.replySerial.rawValue { replySerial = number }
        case "g":
            let text = try reader.signature()
            if code == Field.signature.rawValue { signature = text }
        default: throw .invalidHeader
        }
    }

    /// The bytes of the message, in little-endian order.
    var bytes: [UInt8] {
        var fields = DBusWriter()
        func add(_ field: Field, _ type: String, _ value: (inout DBusWriter) -> Void) {
            fields.align(8)
            fields.put(byte: field.rawValue)
            fields.put(signature: type)
            value(&fields)
        }
        if let path { add(.path, "o") { $0.put(text: path) } }
        if let interface { add(.interface, "s") { $0.put(text: interface) } }
        if let member { add(.member, "s") { $0.put(text: member) } }
        if let errorName { add(.errorName, "s") { $0.put(text: errorName) } }
        if let replySerial { add(.replySerial, "u") { $0.put(number: replySerial) } }
        if let destination { add(.destination, "s") { $0.put(text: destination) } }
        if let sender { add(.sender, "s") { $0.put(text: sender) } }
        if !signature.isEmpty { add(.signature, "g") { $0.put(signature: signature) } }

        var writer = DBusWriter()
        writer.put(byte: UInt8(ascii: "l"))
        writer.put(byte: kind.rawValue)
        writer.put(byte: doesNotStart ? 0x2 : 0)
        writer.put(byte: 1)
        writer.put(number: UInt32(body.count))
        writer.put(number: serial)
        writer.put(number: UInt32(fields.bytes.count))
        // The array begins at a multiple of 8, so that its fields are aligned in it and in the message.
        writer.bytes += fields.bytes
        writer.align(8)
        return writer.bytes + body
    }
}
