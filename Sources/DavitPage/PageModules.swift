/// Which scripts the page needs before it can show anything, as the scripts themselves say.
package enum PageModules {
    /// The one that asks for what is to be shown; `theme.js` imports it.
    package static let first = "folder.js"
    /// The one that shows it, which the document names.
    package static let main = "main.js"

    /// What these import, and what that imports, each once, and first what the first needs; without what is loaded later,
    /// when it is used.
    package static let imported: [String] = {
        let early = [first] + imported(by: first)
        return early + imported(by: main).filter { !early.contains($0) }
    }()

    package static func imported(by module: String) -> [String] {
        var found: [String] = []
        var waiting = [module]
        while let name = waiting.popLast() {
            guard let bytes = PageFiles.shared.source(of: name) else { continue }
            for other in imports(of: String(decoding: bytes, as: UTF8.self), at: name)
            where other != main && !found.contains(other) {
                found.append(other)
                waiting.append(other)
            }
        }
        return found.sorted()
    }

    /// The static imports of a script: `import … from "./x.js"`, `import "./x.js"` and `export … from "./x.js"`, each from
    /// the start of a line on.
    package static func imports(of script: String, at name: String) -> [String] {
        var found: [String] = []
        var isStatement = false
        for line in script.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("import ") || line.hasPrefix("export {") || line.hasPrefix("export *") {
                isStatement = true
            }
            guard isStatement else { continue }
            for quote: Character in ["\"", "'"] {
                let parts = line.split(separator: quote, omittingEmptySubsequences: false)
                if parts.count >= 3, parts[0].hasSuffix("from ") || parts[0] == "import " {
                    if let path = resolve(String(parts[1]), at: name) { found.append(path) }
                    isStatement = false
                }
            }
            if line.hasSuffix(";") || line.hasSuffix("}") { isStatement = false }
        }
        return found
    }

    /// The name of a file as seen from another.
    private static func resolve(_ path: String, at name: String) -> String? {
        guard path.hasPrefix("./") || path.hasPrefix("../") else { return nil }
        var segments = name.split(separator: "/").dropLast().map(String.init)
        for segment in path.split(separator: "/") where segment != "." {
            if segment != ".." {
                segments.append(String(segment))
            } else if segments.popLast() == nil {
                return nil
            }
        }
        return segments.joined(separator: "/")
    }
}
