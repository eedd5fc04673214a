import Davit
import Testing

/// RFC 4918 with a complete server. Serialized, because the tests block threads that other tests need.
@Suite(.serialized)
struct WebDAVTests {
    @Test(arguments: WebDAVExchange.values)
    func propertyValuesArePreserved(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.properties)
    func propertiesFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.documents)
    func documentsFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.names)
    func namesFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.transfers)
    func copyAndMoveFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.locks)
    func locksFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.conditions)
    func conditionsFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.refusals)
    func refusalsFollowRFC4918(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.principals)
    func lockPrincipalsFollowRFC4918(exchange: WebDAVExchange) throws {
        try WebDAVServer {
            $0.accounts = [.init(name: "anna", password: "secret"), .init(name: "bert", password: "secret")]
        }.play(exchange)
    }
}
