import DavitSystem
import Testing

struct PortOwnerTests {
    /// Lines of /proc/net/tcp: a listener on port 8080, an open connection to it, and a listener on port 80.
    static let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
           1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1
           2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0

        """

    @Test(arguments: [(8080, ["4711"]), (80, ["4713"]), (81, [])] as [(UInt16, Set<String>)])
    func listenersOfAPortAreFound(port: UInt16, inodes: Set<String>) {
        #expect(PortOwner.listeners(in: Array(Self.table.utf8), port: port) == inodes)
    }

    @Test func truncatedTableHasNoListeners() {
        let bytes = Array(Self.table.utf8)
        for end in 0..<200 where end < bytes.count {
            _ = PortOwner.listeners(in: Array(bytes[..<end]), port: 8080)
        }
        #expect(PortOwner.listeners(in: Array(bytes[..<130]), port: 8080) == [])
    }
}
