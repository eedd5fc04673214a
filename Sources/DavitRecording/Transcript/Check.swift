/// A required or optional check of a response. Texts may contain variables.
package struct Check: Sendable {
    /// A comparison with a text.
    package enum Test: Hashable, Sendable {
        case equals(String)
        /// A regular expression that matches anywhere in the text.
        case matches(String)
        case lacks(String)
    }

    package enum FieldTest: Hashable, Sendable {
        case isPresent, isAbsent
        case hasToken(String)
        case value(Test)
    }

    package enum BodyTest: Hashable, Sendable {
        case isEmpty
        case hasBytes(Int)
        case text(Test)
    }

    package enum PropertyTest: Hashable, Sendable {
        /// The property is in a propstat with status 2xx.
        case isPresent
        /// The property is in a propstat with status 404.
        case isMissing
        /// The property is in no propstat.
        case isAbsent
        case hasStatus(Int)
        case appearsOnce
        case value(Test)
    }

    package enum LockTest: Hashable, Sendable {
        case tokenEqualsField
        case tokenIs(String)
        case timeout(Test)
        case owner(Test)
        case depthIs(String)
        case countIs(Int)
    }

    package enum Subject: Hashable, Sendable {
        case field(String, FieldTest)
        case interim(Int)
        case body(BodyTest)
        case responseCount(Int)
        case firstHref(String)
        case hasHref(String)
        case lacksHref(String)
        case rawHref(String)
        case isCollection(href: String, Bool)
        case responseStatus(href: String, Int)
        case property(href: String, ComparedProperty, PropertyTest)
        case lock(LockTest)
    }

    package var subject: Subject
    /// Whether a failure is only reported and does not fail the replay.
    package var isAdvice: Bool
    /// The check as written in the transcript.
    package var text: String
}

/// Stores a part of a response in a variable, for later requests and checks.
package struct Capture: Sendable {
    package enum Source: Hashable, Sendable {
        /// Group 1 of the first match of `pattern` in the value of the field.
        case field(String, pattern: String)
        case property(href: String, ComparedProperty)
    }

    package var name: String
    package var source: Source
    /// The capture as written in the transcript.
    package var text: String
}

/// The namespace and local name of a property.
package struct ComparedProperty: Hashable, Sendable {
    package var namespace: String
    package var local: String

    package init(namespace: String, local: String) {
        self.namespace = namespace
        self.local = local
    }

    /// Parses a name such as `D:getetag`; nil if the prefix is not in ``namespaces``.
    package init?(short: Substring) {
        guard let colon = short.firstIndex(of: ":"),
            let namespace = Self.namespaces[String(short[..<colon])]
        else { return nil }
        self.init(namespace: namespace, local: String(short[short.index(after: colon)...]))
    }

    private static let namespaces = [
        "D": "DAV:",
        "A": "http://apache.org/dav/props/",
        "Z": "urn:schemas-microsoft-com:",
        "OC": "http://owncloud.org/ns",
        "NC": "http://nextcloud.org/ns",
        "AP": "http://www.apple.com/webdav_fs/props/",
        "SAR": "SAR:",
        "LO": "http://ucb.openoffice.org/dav/props/",
        "T": "urn:test:",
    ]
}
