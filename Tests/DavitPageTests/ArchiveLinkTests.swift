#if Archive
import DavitTesting
import Testing

extension ArchiveDownloadTests {
    /// If every link were followed, links among n folders would produce about n! entries.
    @Test func eachFolderIsArchivedOnceDespiteLinks() async throws {
        let names = (0..<9).map { "d\($0)" }
        let all = names.joined(separator: " ")
        try shell("mkdir \(all); for d in \(all); do echo $d > $d/file; done")
        try shell("for d in \(all); do for e in \(all); do ln -s ../$e $d/to-$e; done; done")
        let response = try await client.send("GET", "/?archive&method=stored")
        let contents = try ZIPContents(response.body)
        let expected =
            ["files/", "_errors.txt"] + names.flatMap { ["files/\($0)/", "files/\($0)/file"] }
        #expect(Set(contents.names) == Set(expected))
        #expect(contents.names.count == expected.count)
        let report = String(decoding: contents["_errors.txt"]?.content ?? [], as: UTF8.self)
        #expect(report.split(separator: "\n").count == 1 + 81)
        #expect(report.contains("d0/to-d1: links to a folder that is already in this archive"))
        #expect(report.contains("d0/to-d0: links to one of its parent folders"))
    }

    /// A folder outside the archived one is archived once, even if several links lead to it.
    @Test func linksToFoldersOutsideTheArchivedOneAreFollowed() async throws {
        try shell("mkdir -p a/x b/c; echo 1 > b/c/1; ln -s ../b a/first")
        try shell("ln -s ../../b a/x/second; ln -s ../../b/c a/x/third")
        let contents = try ZIPContents(try await client.send("GET", "/a/?archive").body)
        #expect(
            contents.names.filter { $0.hasSuffix("/1") }.count == 1
                && contents.names.contains("a/first/c/1") && contents.names.contains("a/x/"))
        let selection = try ZIPContents(
            try await client.send("GET", "/a/?archive&name=first&name=x").body)
        #expect(selection.names.filter { $0.hasSuffix("/1") }.count == 1)
    }

    /// A real folder keeps its name even if a link to it comes first.
    @Test func foldersArePreferredToLinks() async throws {
        try shell("mkdir -p z; echo 1 > z/1; ln -s z a")
        for query in ["", "&name=a&name=z"] {
            let names = try ZIPContents(try await client.send("GET", "/?archive\(query)").body).names
            #expect(names.filter { $0.hasSuffix("z/1") }.count == 1)
            #expect(!names.contains { $0.hasSuffix("a/1") })
        }
    }

    @Test func encodedNamesRemainDistinct() async throws {
        try shell(#"mkdir d; echo 1 > 'd/a\b'; echo 2 > 'd/a%5Cb'; echo 3 > 'd/a%255Cb'; echo 4 > 'd/100%'"#)
        let contents = try ZIPContents(try await client.send("GET", "/d/?archive&method=stored").body)
        #expect(
            Set(contents.names) == ["d/", "d/a%5Cb", "d/a%255Cb", "d/a%25255Cb", "d/100%"])
        #expect(contents.names.count == 5)
        #expect(contents["d/a%5Cb"]?.content == Array("1\n".utf8))
        #expect(contents["d/a%255Cb"]?.content == Array("2\n".utf8))
    }

    @Test func formatsOtherThanZIPAreRefused() async throws {
        try shell("echo 1 > 1")
        #expect(try await client.send("GET", "/?archive=zip").status == 200)
        for format in ["tar", "1", "ZIP"] {
            let response = try await client.send("GET", "/?archive=\(format)")
            #expect(response.status == 400)
            #expect(response.text.contains("Only ZIP archives are available"))
        }
    }
}
#endif
