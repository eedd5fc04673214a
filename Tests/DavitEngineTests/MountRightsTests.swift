import DavitAccess
import DavitEngine
import DavitHTTP
import DavitTesting
import Testing

/// The rights and methods that responses report for mount points.
struct MountRightsTests {
    /// Pages must not offer what a mount point does not permit.
    @Test(arguments: MountTests.parents)
    func mountPointsAreShownAsFixed(in parent: String) async throws {
        let rights = "<propfind xmlns=\"DAV:\"><prop><rights xmlns=\"urn:davit:property\"/></prop></propfind>"
        let tree = try MountTests.Tree(teamIn: parent)
        func number(_ path: String) async throws -> String? {
            let response = try await tree.share.client.send(
                "PROPFIND", path, [("Depth", "0")], text: rights)
            return response.text.split(separator: "rights xmlns").dropFirst().first.flatMap {
                $0.split(separator: ">").dropFirst().first?.split(separator: "<").first.map(String.init)
            }
        }
        _ = try await tree.share.client.send("MKCOL", "/team/d")
        _ = try await tree.share.client.send("PUT", "/x", text: "1")
        for (path, expected) in [("/", "511"), ("/team/", "255"), ("/a/", "511"), ("/a/b/", "255")] {
            #expect(try await number(path) == expected, "\(path)")
        }
        for path in ["/team/d/", "/x"] { #expect(try await number(path) == "127", "\(path)") }
        for path in ["/team/", "/a", "/a/b", "/"] {
            let allow = try await tree.share.client.send("OPTIONS", path)["Allow"] ?? ""
            #expect(allow.contains("PROPPATCH") && allow.contains("COPY"), "\(path)")
            #expect(!allow.contains("DELETE") && !allow.contains("MOVE"), "\(path)")
        }
        for path in ["/team/d", "/x"] {
            let allow = try await tree.share.client.send("OPTIONS", path)["Allow"] ?? ""
            #expect(allow.contains("DELETE") && allow.contains("MOVE"), "\(path)")
        }
        // Without mounts, everything has the same rights, so there is no such property.
        let plain = try TestShare()
        #expect(
            try await tree.share.client.send("OPTIONS", "/new")["Allow"]
                == plain.client.send("OPTIONS", "/new")["Allow"])
        let none = try await plain.client.send("PROPFIND", "/", [("Depth", "0")], text: rights)
        #expect(none.text.contains("HTTP/1.1 404"))
    }

    /// The members of a collection with a mount point have the rights of the collection, which a minimal response leaves out.
    @Test func minimalListingsContainOnlyTheRightsOfMountPoints() async throws {
        let rules = try AccessRules([AccessRule(.user("anna"), .root, .edit)])
        let tree = try MountTests.Tree(teamIn: "/dev/shm") { $0.access = rules }
        let rights = "<propfind xmlns=\"DAV:\"><prop><rights xmlns=\"urn:davit:property\"/></prop></propfind>"
        let minimal = [("Depth", "1"), ("Prefer", "return=minimal")]
        try await tree.share.play(
            Scenario(
                "rights",
                [
                    step("MKCOL /d", [], nil, 201, as: "anna"),
                    step("PROPFIND /", minimal, rights, 207, holds: [">159<"], lacks: [">31<"], as: "anna"),
                    step("PROPFIND /d", [("Depth", "0")], rights, 207, holds: [">31<"], as: "anna"),
                ]))
    }
}
