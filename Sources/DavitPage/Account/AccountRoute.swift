internal import DavitEngine
internal import DavitHTTP
internal import DavitServer

/// The URLs of the account pages: the query `?account` of any path of the server. The answer to a form is
/// therefore at the URL that the user has opened, and returning to it needs no address in the form.
enum AccountRoute {
    /// The query of the account pages.
    static let query = "account"

    /// Whether a request is for an account page.
    static func matches(_ request: HTTPRequest) -> Bool {
        guard request.hasQuery, let query = request.target.rawQuery, query.starts(with: Self.query.utf8)
        else { return false }
        return query.count == Self.query.utf8.count || query[Self.query.utf8.count] == UInt8(ascii: "&")
    }

    /// The field of the query `?account` of a visitor who signs in to see the folder, not the account.
    static let signIn = "sign-in"

    /// The field of the query `?account` with which a sign-in at the provider begins. The field `query` is then the query
    /// of the page to return to.
    static let start = "provider"

    /// The last segment of the path to which the provider sends the browser, below the collection of the page's files.
    static let returnName = "sign-in"

    /// Whether a request begins a sign-in at the provider.
    static func isStart(_ request: HTTPRequest) -> Bool {
        request.method == .get && matches(request) && request.query[start] != nil
    }

    /// Whether a request comes from the provider.
    static func isReturn(_ request: HTTPRequest) -> Bool {
        request.method == .get && request.target.rawPath.hasReturnPath
    }

    /// Returns the URL of a request without its query, relative to the same URL.
    ///
    /// Begins with `./`, so that no path can lead to another host: that of `//other.example/` is a path here, but
    /// a host in a redirect.
    static func own(_ request: HTTPRequest) -> [UInt8] {
        Array("./".utf8) + request.target.rawPath.suffix(while: { $0 != UInt8(ascii: "/") })
    }

    /// Returns the URL to which the provider sends the browser.
    /// - Parameter url: that of the root of the server, without a trailing slash.
    static func returnURL(below url: String) -> String { "\(url)/\(PageFilePath.name)/\(returnName)" }

    /// Returns the relative URL of a path from the URL of a request.
    ///
    /// It begins with `../`, so that no path can lead to another host, and a proxy can map the server to another path.
    /// - Parameter path: begins with `/`, in the form of those of requests.
    static func location(of path: String, from request: HTTPRequest) -> [UInt8] {
        let depth = request.target.rawPath.count { $0 == UInt8(ascii: "/") }
        return Array(String(repeating: "../", count: max(1, depth - 1)).utf8) + path.utf8.dropFirst()
    }

    /// Returns the response for a file of the page, such as a style sheet; nil for other requests.
    ///
    /// The account pages refer to these files below any path, because the path of the share may be that of a
    /// file, or not be known. The files contain nothing about the share, so they need no account.
    static func file(for request: HTTPRequest) -> HTTPResponse? {
        // Nearly all paths end here.
        guard request.method == .get || request.method == .head, request.target.rawPath.hasPageFileName
        else { return nil }
        let segments = request.target.rawPath.split(separator: UInt8(ascii: "/"))
        guard let index = segments.firstIndex(where: { $0.elementsEqual(PageFilePath.name.utf8) }) else {
            return nil
        }
        return PageFiles.shared.response(at: Array(segments[(index + 1)...]), for: request)
    }
}

extension Array where Element == UInt8 {
    /// Whether the name of the collection of the page's files may occur. Fast, because names rarely begin with `.d`.
    fileprivate var hasPageFileName: Bool {
        var index = 0
        while index + PageFilePath.name.utf8.count < count {
            if self[index] == UInt8(ascii: "."), self[index + 1] == UInt8(ascii: "d") { return true }
            index += 1
        }
        return false
    }

    fileprivate var hasReturnPath: Bool {
        let path = "/\(PageFilePath.name)/\(AccountRoute.returnName)"
        return count >= path.utf8.count && suffix(path.utf8.count).elementsEqual(path.utf8)
    }

    fileprivate func suffix(while predicate: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !predicate($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}
