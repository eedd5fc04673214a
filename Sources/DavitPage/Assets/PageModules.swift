/// The scripts that the page needs before it can show anything, found by their imports.
package enum PageModules {
    /// The script that starts to read the folder; imported by `theme.js`.
    package static let first = "folder.js"
    /// The script that shows the folder; referenced by the document.
    package static let main = "main.js"

    /// ``first`` and its transitive static imports, then those of ``main``, without duplicates. Excludes
    /// modules that are loaded on demand.
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

    /// Returns the static imports of a script: `import … from "./x.js"`, `import "./x.js"` and `export … from
    /// "./x.js"`, each at the start of a line.
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

    /// Resolves a path relative to another file.
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
