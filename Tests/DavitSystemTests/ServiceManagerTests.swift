import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct ServiceManagerTests {
    // sd_listen_fds(3)
    @Test(
        arguments: [
            ("77", "1", [3]), ("77", "3", [3, 4, 5]), ("77", "0", []), ("78", "1", []), ("77", nil, []),
            (nil, "1", []),
            ("77", "-1", []), ("77", "x", []), ("", "1", []), ("77", "99999999999", []),
            ("77", "2147483647", []),
        ] as [(String?, String?, [Int32])])
    func socketsAreInheritedByOneProcess(process: String?, count: String?, sockets: [Int32]) {
        #expect(ServiceManager.inheritedSockets(process: process, count: count, own: 77) == sockets)
    }

    // sd_watchdog_enabled(3)
    @Test(
        arguments: [
            ("77", "3000000", .seconds(3)), (nil, "1", .microseconds(1)), ("78", "3000000", nil),
            ("77", "0", nil),
            ("77", nil, nil), ("77", "x", nil), ("77", "-1", nil),
        ] as [(String?, String?, Duration?)])
    func watchdogIsForOneProcess(process: String?, microseconds: String?, interval: Duration?) {
        #expect(
            ServiceManager.watchdogInterval(process: process, microseconds: microseconds, own: 77) == interval
        )
    }

    // sd_notify(3)
    @Test(arguments: [false, true])
    func messagesAreDatagrams(isAbstract: Bool) throws {
        #if !os(Linux)
        if isAbstract { return }
        #endif
        let folder = try TemporaryFolder()
        let name =
            isAbstract ? "@davit-test-\(getpid())-\(UInt64.random(in: 0 ... .max))" : folder.path + "/notify"
        let number = socket(AF_UNIX, Int32(2), 0)
        try #require(number >= 0)
        let receiver = FileDescriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if isAbstract { bytes[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(offset + bytes.count)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, length)
            }
        }
        try #require(bound == 0)
        ServiceManager.notify("READY=1", at: name)
        ServiceManager.notify("STOPPING=1", at: name)
        for message in ["READY=1", "STOPPING=1"] {
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = unsafe recv(receiver.rawValue, &buffer, buffer.count, 0)
            try #require(count >= 0)
            #expect(String(decoding: buffer[..<count], as: UTF8.self) == message)
        }
    }

    /// Without a listener, or with an invalid address, nothing happens.
    @Test(arguments: [
        "/nowhere/notify", "notify", "", "vsock:2:1234", "@" + String(repeating: "x", count: 200),
    ])
    func missingManagerIsNoError(address: String) { ServiceManager.notify("READY=1", at: address) }
}
