import Davit
import DavitTesting
import Testing

/// The requirements of clients, by the numbers in docs/clients.md.
@Suite(.serialized)
struct ContractTests {
    @Test(arguments: Contract.messages)
    func messageRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.discovery)
    func discoveryRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.accounts)
    func accountRequirementsAreMet(row: Contract) throws {
        try WebDAVServer {
            $0.accounts = [
                .init(name: "anna", password: "secret"), .init(name: "j\u{F6}rg", password: "p\u{E4}ssword"),
            ]
        }.play(row.exchange)
    }

    @Test(arguments: Contract.paths)
    func pathRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.questions)
    func propFindRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.answers)
    func multistatusRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    /// Explorer reads at most one megabyte of a listing (requirement 76).
    @Test func allpropStaysSmall() throws {
        try WebDAVServer().serve { client in
            let count = 50
            for number in 0..<count {
                let name = String(repeating: "n", count: 40) + "\(number)"
                #expect(try client.send("PUT /\(name)", content: "x").status == 201)
            }
            let listing = try client.send("PROPFIND /", ["Depth: 1"]).content
            #expect(listing.utf8.count < (count + 1) * 1024)
        }
    }

    @Test(arguments: Contract.reading)
    func readRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.writing)
    func writeRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }

    @Test(arguments: Contract.locking)
    func lockRequirementsAreMet(row: Contract) throws { try WebDAVServer().play(row.exchange) }
}
