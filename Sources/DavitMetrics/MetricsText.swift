/// Writes metrics in a text format.
package struct MetricsText {
    /// The formats that Prometheus reads.
    package enum Format: Sendable {
        /// OpenMetrics 1.0.
        case openMetrics
        /// The older format of Prometheus, version 0.0.4.
        case prometheus

        /// The format for a client with this `Accept` field: OpenMetrics if the client names it, as Prometheus does.
        package init(accept: String) {
            self = accept.lowercased().contains("application/openmetrics-text") ? .openMetrics : .prometheus
        }

        package var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    private let format: Format
    private var text = ""

    /// Returns the text for these metrics. Of several metrics with the same name, and of several samples of a metric with the same
    /// labels, only the first is written; metrics with invalid names are left out.
    package static func text(of metrics: [Metric], in format: Format) -> String {
        var writer = MetricsText(format: format)
        var names: Set<String> = []
        for metric in metrics where metric.isValid && !metric.samples.isEmpty {
            if names.insert(metric.name).inserted { writer.write(metric) }
        }
        if format == .openMetrics { writer.text += "# EOF\n" }
        return writer.text
    }

    private init(format: Format) { self.format = format }

    private mutating func write(_ metric: Metric) {
        let suffix =
            switch metric.kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        // The older format has no name without the suffix, no units and no info metrics.
        let family = format == .openMetrics ? metric.name : metric.name + suffix
        let kind = format == .prometheus && metric.kind == .info ? Metric.Kind.gauge : metric.kind
        text += "# TYPE \(family) \(kind.rawValue)\n"
        if let unit = metric.unit, format == .openMetrics { text += "# UNIT \(family) \(unit)\n" }
        text += "# HELP \(family) \(escapedHelp(metric.help))\n"
        var seen: Set<[Metric.Label]> = []
        for sample in metric.samples where seen.insert(sample.labels).inserted {
            switch (sample.value, metric.kind) {
            case (.distribution(let distribution), .histogram):
                write(distribution, metric.name, sample.labels)
            case (.number(let value), .counter), (.number(let value), .gauge), (.number(let value), .info):
                line(metric.name + suffix, sample.labels, value)
            case (.distribution, _), (.number, .histogram): break
            }
        }
    }

    private mutating func write(_ value: Metric.Distribution, _ name: String, _ labels: [Metric.Label]) {
        var total: UInt64 = 0
        for (index, count) in value.counts.enumerated() {
            total += count
            let bound = index < value.bounds.count ? Self.number(value.bounds[index]) : "+Inf"
            line(name + "_bucket", labels + [Metric.Label("le", bound)], Double(total))
        }
        line(name + "_sum", labels, value.sum)
        line(name + "_count", labels, Double(total))
    }

    private mutating func line(_ name: String, _ labels: [Metric.Label], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{"
            text += labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += "}"
        }
        text += " \(Self.number(value))\n"
    }

    /// Returns the shortest decimal text; integers have no fraction, except bounds of OpenMetrics, where it is optional.
    package static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if value == value.rounded(), abs(value) < 9e15 { return String(Int64(value)) }
        return "\(value)"
    }

    package static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The older format does not escape quotation marks in help texts.
    private func escapedHelp(_ help: String) -> String {
        let text = Self.escaped(help)
        guard format == .prometheus else { return text }
        return help.contains("\"")
            ? text.split(separator: "\\\"", omittingEmptySubsequences: false).joined(separator: "\"") : text
    }
}
