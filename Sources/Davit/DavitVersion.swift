/// The version of this package.
public enum DavitVersion {
    /// What `davit --version` prints.
    public static let text = "0.1.0"
}
