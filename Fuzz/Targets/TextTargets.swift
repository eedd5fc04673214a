import DavitArchive
import DavitServer
import DavitStore

/// Sync tokens (RFC 6578 §3.2): each token has exactly one accepted spelling.
func fuzzSyncToken(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard let token = SyncToken(parsing: text) else { return }
    invariant(token.text == text, "token has one spelling")
    invariant(token.number >= 0 && token.base >= token.number, "numbers in order")
}

/// Account files: each account comes from a line with a colon, and names contain no colon.
func fuzzUserFile(_ input: [UInt8]) {
    guard let accounts = try? AccountLine.parse(file: input) else { return }
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    invariant(accounts.count <= lines.count, "at most one account per line")
    for account in accounts { invariant(!account.name.utf8.contains(UInt8(ascii: ":")), "a name") }
    var list = Accounts()
    for account in accounts.prefix(4) {
        if Accounts.isHash(account.secret) { try? list.add(name: account.name, hash: account.secret) }
    }
}

/// Names in archives stay inside the folder where the archive is extracted, also on Windows, and different
/// names stay different.
func fuzzZIPNames(_ input: [UInt8]) {
    let names = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
    let paths = names.map { name in
        ZIPEntry(path: name, kind: .file(length: 0), modifiedSeconds: 0).path
    }
    for path in paths {
        invariant(!path.contains(UInt8(ascii: "\\")), "no backslash")
        invariant(path.count < 2 || path[1] != UInt8(ascii: ":") || !isLetter(path[0]), "no drive letter")
    }
    if names.count == 2, names[0] != names[1] {
        invariant(paths[0] != paths[1], "different names stay different")
    }
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}
