import DavitAccess
import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// The property `rights`, with which the browser page decides what to offer.
struct ClientRightsTests {
    private func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    private static let body =
        #"<propfind xmlns="DAV:"><prop><rights xmlns="urn:davit:property"/></prop></propfind>"#

    private func share(hasPolicy: Bool = true) throws -> TestShare {
        let policy = try AccessRules([
            AccessRule(.user("root"), .root, .all), AccessRule(.user("ann"), path("team"), .edit),
            AccessRule(.user("ann"), path("team/plan"), .view), AccessRule(.user("ann"), path("in"), .drop),
            AccessRule(.user("bob"), path("team/other/deep"), .view),
        ])
        let share = try TestShare {
            $0.trash = TrashLimits()
            if hasPolicy { $0.access = policy }
        }
        let made = share.shell(
            """
            mkdir -p team/plan team/other/deep team/own in && touch team/a team/plan/b in/c && ln -s plan team/link
            """)
        #expect(made == 0)
        return share
    }

    /// Returns the rights in the responses of a multistatus by the hrefs of the resources; nil for those without.
    private func rights(
        _ share: TestShare, _ target: String, depth: String = "1", isMinimal: Bool = false,
        as name: String = "ann"
    ) async throws -> [String: Int?] {
        let fields = [("Depth", depth)] + (isMinimal ? [("Prefer", "return=minimal")] : [])
        let response = try await share.client.send(
            "PROPFIND", target, fields, body: Array(Self.body.utf8), principal: name)
        #expect(response.status == 207)
        var found: [String: Int?] = [:]
        for part in response.text.split(separator: "<D:response>").dropFirst() {
            let href = part.split(separator: "<D:href>")[0].prefix { $0 != "<" }
            let value = part.firstRange(of: #"<N:rights xmlns:N="urn:davit:property">"#).flatMap {
                Int(part[$0.upperBound...].prefix { $0 != "<" })
            }
            found[String(href)] = .some(value)
        }
        return found
    }

    private static let (view, edit, all, drop, fixed) = (3, 31, 127, 4, 128)

    @Test func numberIsTheSumOfTheRights() async throws {
        let share = try share()
        let found = try await rights(share, "/team/")
        // A rule refers to each fixed folder or to a folder below it, even if it is for another account.
        #expect(
            found == [
                "/team/": Self.edit + Self.fixed, "/team/a": Self.edit, "/team/own/": Self.edit,
                "/team/plan/": Self.view + Self.fixed, "/team/other/": Self.edit + Self.fixed,
                "/team/link/": Self.view + Self.fixed,
            ])
        #expect(try await rights(share, "/in/") == ["/in/": Self.drop + Self.fixed])
        #expect(try await rights(share, "/", depth: "0") == ["/": Self.fixed])
        #expect(try await rights(share, "/team/a", depth: "0") == ["/team/a": Self.edit])
        #expect(try await rights(share, "/team/a", depth: "0", as: "root") == ["/team/a": Self.all])
    }

    @Test func minimalResponsesOmitInheritedRights() async throws {
        let share = try share()
        let found = try await rights(share, "/team/", isMinimal: true)
        #expect(
            found == [
                "/team/": Self.edit + Self.fixed, "/team/a": nil, "/team/own/": nil,
                "/team/plan/": Self.view + Self.fixed, "/team/other/": Self.edit + Self.fixed,
                "/team/link/": Self.view + Self.fixed,
            ])
        // The requested resource always has the property.
        #expect(try await rights(share, "/team/a", depth: "0", isMinimal: true) == ["/team/a": Self.edit])
    }

    @Test func sharesWithoutPolicyDoNotHaveTheProperty() async throws {
        let share = try share(hasPolicy: false)
        #expect(try await rights(share, "/team/plan/") == ["/team/plan/": nil, "/team/plan/b": nil])
    }

    @Test func trashReportContainsRights() async throws {
        let share = try share()
        #expect(try await share.client.send("DELETE", "/team/plan/b", principal: "root").status == 204)
        let report = Array(#"<trash xmlns="urn:davit:trash"/>"#.utf8)
        let text = try await share.client.send(
            "REPORT", "/", [("Depth", "infinity")], body: report, principal: "ann"
        ).text
        #expect(text.contains(#"<N:rights xmlns:N="urn:davit:property">\#(Self.view)</N:rights>"#))
    }
}
