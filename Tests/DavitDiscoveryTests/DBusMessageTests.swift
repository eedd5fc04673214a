import Testing

@testable import DavitDiscovery

/// The message format of the D-Bus Specification, "Message Protocol".
struct DBusMessageTests {
    static var addService: DBusMessage {
        var message = DBusMessage(
            calling: "AddService", of: AvahiSession.entryGroup, at: "/Client0/EntryGroup1",
            on: AvahiSession.daemon
        ) { arguments in
            arguments.add(Int32(-1))
            arguments.add("é")
            arguments.add(UInt16(8080))
            arguments.add([Array("path=/".utf8), [], Array("u=anna".utf8)])
        }
        message.serial = 7
        return message
    }

    @Test func writtenMessageIsReadBack() throws {
        let message = Self.addService
        #expect(message.signature == "isqaay")
        let read = try #require(try DBusMessage(parsing: message.bytes))
        #expect(read == message)
        var reader = read.reader
        #expect(Int32(bitPattern: try reader.number()) == -1)
        #expect(try reader.string() == "é")
    }

    /// The bytes of a call of `Hello`, with its fields in the order of their codes, as libdbus reads them.
    @Test func helloHasTheBytesOfTheSpecification() {
        var message = DBusMessage(
            calling: "Hello", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
            on: "org.freedesktop.DBus")
        message.serial = 1
        var expected: [UInt8] = [0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0x6D, 0, 0, 0]
        func field(_ code: UInt8, _ type: Character, _ text: String, padding: Int) {
            expected += [
                code, 1, UInt8(ascii: Unicode.Scalar(String(type))!), 0, UInt8(text.utf8.count), 0, 0, 0,
            ]
            expected += Array(text.utf8) + Array(repeating: 0, count: padding + 1)
        }
        field(1, "o", "/org/freedesktop/DBus", padding: 2)
        field(2, "s", "org.freedesktop.DBus", padding: 3)
        field(3, "s", "Hello", padding: 2)
        field(6, "s", "org.freedesktop.DBus", padding: 3)
        #expect(message.bytes == expected)
    }

    @Test func bigEndianMessageIsRead() throws {
        // A reply with one number, 2, to the message 5.
        let bytes: [UInt8] = [
            0x42, 2, 1, 1, 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 15,
            5, 1, 0x75, 0, 0, 0, 0, 5, 8, 1, 0x67, 0, 1, 0x69, 0, 0,
            0, 0, 0, 2,
        ]
        let message = try #require(try DBusMessage(parsing: bytes))
        #expect(message.replySerial == 5)
        #expect(message.signature == "i")
        var reader = message.reader
        #expect(try reader.number() == 2)
    }

    @Test func everyPrefixOfAMessageIsIncomplete() throws {
        let bytes = Self.addService.bytes
        for count in 0..<bytes.count {
            let prefix = Array(bytes[..<count])
            let length = try DBusMessage.length(of: prefix)
            #expect(length == (count < 16 ? nil : bytes.count), "\(count) bytes")
            #expect(throws: DBusMessage.Malformed.truncated) { try DBusMessage(parsing: prefix) }
        }
    }

    /// No changed byte makes the parser read outside the message.
    @Test func everyChangedByteIsReadOrRefused() {
        let bytes = Self.addService.bytes
        var refused = 0
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 2, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[index] = value
                do { _ = try DBusMessage(parsing: changed) } catch { refused += 1 }
            }
        }
        #expect(refused > 100)
    }

    static let malformed: [([UInt8], DBusMessage.Malformed)] = [
        ([0x6D] + Array(repeating: 0, count: 15), .unknownByteOrder),
        ([0x6C, 1, 0, 2] + Array(repeating: 0, count: 12), .unknownVersion),
        ([0x6C, 1, 0, 1, 0, 0, 0, 1] + Array(repeating: 0, count: 8), .tooLong),
        ([0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], .tooLong),
    ]

    @Test(arguments: malformed)
    func malformedMessageIsRefused(bytes: [UInt8], error: DBusMessage.Malformed) {
        #expect(throws: error) { try DBusMessage.length(of: bytes) }
    }

    static let addresses: [(String?, String?)] = [
        (nil, "/run/dbus/system_bus_socket"), ("", "/run/dbus/system_bus_socket"), ("unix:path=/a", "/a"),
        ("unix:abstract=/a,guid=1;unix:guid=1,path=/b%20c", "/b c"), ("tcp:host=localhost", nil),
        ("unix:path=/%zz", nil), ("unix:abstract=/a", nil),
    ]

    @Test(arguments: addresses)
    func pathOfTheBusIsFound(address: String?, path: String?) {
        #expect((try? DBusConnection.path(inAddress: address)) == path)
    }
}
