/// The single document of a YAML file, with everything that is wrong with its form.
///
/// A subset of YAML 1.1 is accepted: no anchors, aliases or tags, and no key twice in a mapping. A file with these is
/// nevertheless read to its end, so that all problems can be reported together; an error of syntax ends it.
package struct YAMLDocument: Sendable {
    /// Nil for a file without values, and if an error of syntax precedes the first value.
    package let root: YAMLNode?
    /// In the order of the file, at most ``YAMLLimits/problems`` of them.
    package let problems: [YAMLProblem]

    /// Parses a file. Takes time linear in its size.
    package init(parsing bytes: [UInt8]) {
        guard bytes.count <= YAMLLimits.fileBytes else {
            self.init(problem: "the file is too large: expected at most \(YAMLLimits.fileBytes) bytes")
            return
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            self.init(problem: "the file is not UTF-8 text")
            return
        }
        #if YAML
        guard let parser = YAMLEventParser(bytes) else {
            self.init(problem: "out of memory")
            return
        }
        var builder = YAMLBuilder()
        do throws(YAMLProblem) {
            while let event = try parser.next() { try builder.add(event) }
        } catch {
            builder.report(error)
        }
        self.init(root: builder.root, problems: builder.problems)
        #else
        self.init(problem: "this build does not include YAML")
        #endif
    }

    private init(root: YAMLNode?, problems: [YAMLProblem]) {
        self.root = root
        self.problems = problems
    }

    private init(problem: String) { self.init(root: nil, problems: [YAMLProblem(nil, problem)]) }
}

/// Whether the build includes libyaml.
package enum YAMLLibrary {
    package static var isAvailable: Bool {
        #if YAML
        true
        #else
        false
        #endif
    }
}
