import Davit
import Testing

@testable import DavitDiscovery

/// The services that a configuration announces.
struct AnnouncedServicesTests {
    static func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.announcement = ServiceAnnouncement(name: "Office")
        change(&configuration)
        return configuration
    }

    @Test func shareAndWebsiteAreAnnounced() {
        let services = Self.configuration { $0.prefix = "/dav" }.announcedServices(ofShares: ["", "/team"])
        #expect(services.map(\.type) == ["_webdav._tcp", "_webdav._tcp"])
        #expect(services.map(\.properties) == [["path": "/dav/"], ["path": "/dav/team/"]])
    }

    @Test func onlyASingleAccountIsAnnounced() {
        let one = Self.configuration { $0.accounts = [.init(name: "anna", password: "a")] }
        #expect(one.announcedServices(ofShares: [""]).first?.properties == ["path": "/", "u": "anna"])
        let two = Self.configuration {
            $0.accounts = [.init(name: "anna", password: "a"), .init(name: "bert", password: "b")]
        }
        #expect(two.announcedServices(ofShares: [""]).first?.properties == ["path": "/"])
    }

    @Test func severalSharesHaveDifferentNames() {
        var configuration = Self.configuration()
        configuration.announceShares(at: ["/", "/team"])
        let services = configuration.announcement?.services ?? []
        #expect(services.map(\.type) == ["_webdav._tcp", "_webdav._tcp", "_http._tcp"])
        #expect(services.map(\.name) == [nil, "Office (team)", nil])
        #expect(services.map { $0.properties["path"] } == ["/", "/team/", "/"])
    }

    @Test func malformedAnnouncementIsAnError() throws {
        let configuration = Self.configuration { $0.announcement?.services = [.init(type: "webdav")] }
        #expect(throws: ServerError.announcementMalformed(.type("webdav"))) {
            try WebServer(configuration: configuration) { $0.get("/") { _ in .text("x") } }
        }
    }
}
