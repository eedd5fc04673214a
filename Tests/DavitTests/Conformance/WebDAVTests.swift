import Davit
import Testing

/// RFC 4918 with a complete server. Serialized, because the tests block threads that other tests need.
@Suite(.serialized)
struct WebDAVTests {
    @Test(arguments: WebDAVExchange.values)
    func values(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.properties)
    func properties(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.documents)
    func documents(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.names)
    func names(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.transfers)
    func transfers(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.locks)
    func locks(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.conditions)
    func conditions(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.refusals)
    func refusals(exchange: WebDAVExchange) throws { try WebDAVServer().play(exchange) }

    @Test(arguments: WebDAVExchange.principals)
    func principals(exchange: WebDAVExchange) throws {
        try WebDAVServer {
            $0.accounts = [.init(name: "anna", password: "secret"), .init(name: "bert", password: "secret")]
        }.play(exchange)
    }
}
