import DavitHTTP
import Testing

struct MediaTypeTests {
    static let rows: [(name: String, type: String)] = [
        ("a.txt", "text/plain; charset=utf-8"), ("A.TXT", "text/plain; charset=utf-8"),
        ("a.tar.gz", "application/gzip"), ("photo.JPeG", "image/jpeg"), ("a.mp4", "video/mp4"),
        ("report.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("site.webmanifest", "application/manifest+json"), ("é.pdf", "application/pdf"),
        (".a.css", "text/css; charset=utf-8"),
        ("a", "application/octet-stream"), ("", "application/octet-stream"),
        ("a.", "application/octet-stream"),
        (".txt", "application/octet-stream"), ("txt", "application/octet-stream"),
        ("a.unknown", "application/octet-stream"), ("a.txt.", "application/octet-stream"),
        ("a.txtx", "application/octet-stream"), ("a. txt", "application/octet-stream"),
        ("a.aaaaaaaaaaaaaaaaaaaaaaaaaatxt", "application/octet-stream"),
        ("a.\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0txt", "application/octet-stream"),
    ]

    @Test(arguments: rows)
    func typeDependsOnTheExtension(name: String, type: String) {
        #expect(MediaType.forName(Array(name.utf8)).description == type)
    }

    @Test func everyExtensionIsUniqueAndFindsItsType() {
        var seen: Set<String> = []
        for (type, extensions) in MediaType.types {
            for suffix in extensions.description.split(separator: " ") {
                #expect(seen.insert(String(suffix)).inserted, "\(suffix) appears twice")
                #expect(MediaType.forName(Array("a.\(suffix)".utf8)).description == type.description)
            }
        }
        #expect(seen.count > 150)
    }
}
