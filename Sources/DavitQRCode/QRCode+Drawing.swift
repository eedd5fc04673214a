extension QRCode {
    /// Returns a scalable image with one unit per module, dark on a white background, with its quiet zone.
    package func svg() -> String {
        let side = size + 2 * Self.quietZone
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                guard isDark(row: row, column: column) else {
                    column += 1
                    continue
                }
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                path +=
                    "M\(start + Self.quietZone) \(row + Self.quietZone)h\(column - start)v1h-\(column - start)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" width="\(side * 8)" \
            height="\(side * 8)" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/>\
            <path d="\(path)"/></svg>

            """
    }

    /// Returns the code for a terminal: two rows of modules per line of block characters, with half the quiet
    /// zone. Without colors, light modules are drawn and dark ones left blank, because most terminals have a
    /// dark background; most readers also accept inverted codes.
    ///
    /// - Parameter isColored: whether to set black on white, which every reader accepts, with escape
    ///   sequences (ECMA-48 §8.3.117).
    package func terminalText(isColored: Bool) -> String {
        var text = ""
        let edge = Self.quietZone / 2
        for row in stride(from: -edge, to: size + edge, by: 2) {
            if isColored { text += "\u{1B}[30;107m" }
            for column in -edge..<(size + edge) {
                let (upper, lower) = (isDark(row: row, column: column), isDark(row: row + 1, column: column))
                switch (upper == isColored, lower == isColored) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            if isColored { text += "\u{1B}[0m" }
            text += "\n"
        }
        return text
    }
}
