"""Tables in Markdown."""


def table(head, lines):
    rows = [head, [":--", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def words_table(head, lines):
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
