import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// What resources say about rights, and what folders on the way reveal.
struct AccessPropertyTests {
    private func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    private static func ask(_ names: String...) -> String {
        "<D:propfind xmlns:D='DAV:'><D:prop>\(names.map { "<D:\($0)/>" }.joined())</D:prop></D:propfind>"
    }

    private func share(_ rules: [AccessRule], _ setup: String) throws -> TestShare {
        let policy = try AccessRules(rules, groups: ["team": ["ann"]])
        let share = try TestShare { $0.access = policy }
        #expect(share.shell(setup) == 0)
        return share
    }

    @Test func aclIsForThoseWhoManage() async throws {
        let share = try share(
            [
                AccessRule(.user("boss"), .root, .all), AccessRule(.group("team"), path("p"), .view),
                AccessRule(.anonymous, path("p"), .drop), AccessRule(.user("boss"), path("p/q"), .all),
                AccessRule(.user("ann"), path("p/q"), .none),
            ], "mkdir -p p/q && echo >p/q/f")
        func acl(_ target: String, _ principal: String) async throws -> String {
            try await share.client.send(
                "PROPFIND", target, [("Depth", "0")], text: Self.ask("acl", "displayname"),
                principal: principal
            ).text
        }
        let text = try await acl("/p/q/f", "boss")
        let folder = "/.davit-principalsfolder/"
        let ann = """
            <D:ace><D:principal><D:href>\(folder)ann</D:href></D:principal><D:deny>\
            <D:privilege><D:read/></D:privilege><D:privilege><D:write/></D:privilege>\
            <D:privilege><D:unlock/></D:privilege><D:privilege><D:read-acl/></D:privilege></D:deny>\
            <D:protected/><D:inherited><D:href>/p/q/</D:href></D:inherited></D:ace>
            """
        #expect(text.contains(ann))
        let team = """
            <D:ace><D:principal><D:href>\(folder)group:team</D:href></D:principal><D:grant>\
            <D:privilege><D:read/></D:privilege>\
            <D:privilege><D:read-current-user-privilege-set/></D:privilege></D:grant><D:protected/>\
            <D:inherited><D:href>/p/</D:href></D:inherited></D:ace>
            """
        #expect(text.replacing("%3A", with: ":").contains(team))
        #expect(text.contains("<D:unauthenticated/>"))
        // An entry of the folder itself is not inherited.
        #expect(try await acl("/p/q", "boss").contains("<D:protected/></D:ace>"))
        // Others learn nothing, not even that there is a list.
        let refused = try await acl("/p", "ann")
        #expect(refused.contains("<D:acl/></D:prop><D:status>HTTP/1.1 404"))
        let names = try await share.client.send(
            "PROPFIND", "/p", [("Depth", "0")], text: "<D:propfind xmlns:D='DAV:'><D:propname/></D:propfind>",
            principal: "ann")
        #expect(!names.text.contains("acl"))
        let set = try await share.client.send(
            "PROPPATCH", "/p/q/f",
            text: AccessWay.patchBody.replacing("<x xmlns='urn:x'>1</x>", with: "<D:acl/>"),
            principal: "boss")
        #expect(set.text.contains("403 Forbidden"))
    }

    @Test func supportedPrivilegesIncludeThoseGranted() async throws {
        let share = try share([AccessRule(.user("boss"), .root, .all)], "echo >f")
        let response = try await share.client.send(
            "PROPFIND", "/f", [("Depth", "0")],
            text: Self.ask("current-user-privilege-set", "supported-privilege-set"), principal: "boss")
        let sets = response.text.split(separator: "<D:supported-privilege-set>")
        for part in sets[0].split(separator: "<D:privilege><D:").dropFirst() {
            let name = part.prefix { $0 != "/" }
            #expect(sets[1].contains("<D:privilege><D:\(name)/></D:privilege>"), "\(name)")
        }
        #expect(sets[0].contains("<D:unlock/>") && sets[0].contains("<D:read-acl/>"))
    }

    /// A folder on the way shows its type and the way (nextcloud/groupfolders#2551, rclone/rclone#2350), but no times, tags
    /// or stored properties.
    @Test(arguments: ["/", "/deep/", "/deep/way/", "/in/"])
    func passagesRevealOnlyThatTheyExist(target: String) async throws {
        let share = try share(
            [
                AccessRule(.user("root"), .root, .all),
                AccessRule(.user("ann"), path("deep/way/room"), .edit),
                AccessRule(.user("ann"), path("in"), .drop),
            ], "mkdir -p deep/way/room deep/other in && echo >deep/way/room/f && echo >deep/file")
        let stored = try await share.client.send(
            "PROPPATCH", target, text: AccessWay.patchBody, principal: "root")
        #expect(stored.status == 207)
        let times = ["getlastmodified", "creationdate", "lastmodified", "getetag"]
        for depth in ["0", "1"] {
            let response = try await share.client.send(
                "PROPFIND", target, [("Depth", depth)], principal: "ann")
            #expect(response.status == 207)
            // Of all resources, only the room and what is in it has times.
            for part in response.text.split(separator: "<D:response>").dropFirst()
            where !part.contains("/deep/way/room") {
                for name in times { #expect(!part.contains("<D:\(name)>"), "\(name) in \(part)") }
                #expect(part.contains("<D:collection/>") && !part.contains("urn:x"))
            }
        }
        let named = try await share.client.send(
            "PROPFIND", target, [("Depth", "0")], text: Self.ask("getlastmodified", "resourcetype"),
            principal: "ann")
        #expect(named.text.contains("<D:getlastmodified/></D:prop><D:status>HTTP/1.1 404"))
        let get = try await share.client.send("GET", target, principal: "ann")
        #expect(get.status == 200 && get.fields.first(.lastModified) == nil && get.fields.first(.etag) == nil)
        let search = """
            <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:getlastmodified/></D:prop></D:select>\
            <D:from><D:scope><D:href>.</D:href><D:depth>0</D:depth></D:scope></D:from><D:where><D:gt><D:prop>\
            <D:getlastmodified/></D:prop><D:literal>Thu, 01 Jan 1960 00:00:00 GMT</D:literal></D:gt></D:where>\
            </D:basicsearch></D:searchrequest>
            """
        let found = try await share.client.send(
            "SEARCH", target, [("Content-Type", "text/xml")], text: search, principal: "ann")
        #expect(found.status == 207 && !found.text.contains("<D:response>"))
    }

    @Test func passagesListOnlyTheWay() async throws {
        let share = try share(
            [AccessRule(.user("ann"), path("deep/way/room"), .edit)],
            "mkdir -p deep/way/room deep/other && echo >deep/file && echo >deep/way/file && ln -s ../deep/other deep/link"
        )
        for (target, members) in [
            ("/", ["/deep/"]), ("/deep/", ["/deep/way/"]), ("/deep/way/", ["/deep/way/room/"]),
        ] {
            let response = try await share.client.send(
                "PROPFIND", target, [("Depth", "1")], text: Self.ask("resourcetype"), principal: "ann")
            let hrefs = response.text.split(separator: "<D:href>").dropFirst().map { $0.prefix { $0 != "<" } }
            #expect(hrefs.map(String.init) == [target] + members)
        }
    }

    /// The Allow field of 405 responses, too.
    @Test func refusedMethodsAreNotAllowed() async throws {
        let share = try share(
            [AccessRule(.user("ann"), .root, .add), AccessRule(.user("boss"), .root, .all)],
            "mkdir d && echo text >f")
        func allow(_ method: String, _ target: String, _ principal: String) async throws -> String? {
            let response = try await share.client.send(method, target, principal: principal)
            #expect(response.status == 405)
            return response.fields.first(.allow)
        }
        #expect(
            try await allow("MKCOL", "/f", "ann")
                == "OPTIONS, GET, HEAD, COPY, PROPFIND, REPORT, SEARCH, UNLOCK")
        #expect(
            try await allow("MKCOL", "/d", "ann")
                == "OPTIONS, GET, HEAD, COPY, PROPFIND, REPORT, SEARCH, UNLOCK")
        let all = try await allow("MKCOL", "/f", "boss")
        #expect(
            all
                == "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
        )
        let post = try await share.client.send("OPTIONS", "/d/?add-member", principal: "ann")
        #expect(post.fields.first(.allow)?.contains("POST") == true && post["Accept-Post"] == "*/*")
        #expect(post["Tus-Version"] != nil)
        let read = try await share.client.send("OPTIONS", "/f", principal: "ann")
        #expect(read["Accept-Patch"] == nil && read["Tus-Version"] == nil)
        // A share that is read-only allows even a client with all rights only to read.
        let policy = try AccessRules([AccessRule(.user("boss"), .root, .all)])
        let fixed = try TestShare {
            $0.access = policy
            $0.isReadOnly = true
        }
        let root = try await fixed.client.send("OPTIONS", "/", principal: "boss")
        #expect(root.fields.first(.allow) == "OPTIONS, GET, HEAD, COPY, PROPFIND, REPORT, SEARCH, UNLOCK")
    }
}
