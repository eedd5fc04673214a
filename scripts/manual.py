#!/usr/bin/env python3
"""Writes the manual pages of davit and the completions for bash, zsh and fish, from the help texts of the program, and the manual
page of its configuration file from `davit config defaults`.

    scripts/manual.py --davit PATH --into FOLDER [--date YYYY-MM-DD]

Writes man1/davit.1, man1/davit-COMMAND.1, man5/davit.yaml.5, bash/davit, zsh/_davit and fish/davit.fish.
"""
import argparse
import pathlib
import re
import subprocess

import helptext

PLACES = ("FILE", "FOLDER", "PATH", "RECORDING", "SOURCE")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def marked(text):
    """Sets options and quoted words in bold, and arguments in italics."""
    def mark(match):
        word = match[0]
        if word.startswith("--"):
            return f"\\fB{escape(word)}\\fR"
        if re.fullmatch(r"[A-Z][A-Z]+", word) and word not in NAMES:
            return f"\\fI{word}\\fR"
        return escape(word)
    line = re.sub(r"--[a-z][a-z-]*|[A-Z][A-Z]+(?![\w-])|[^-A-Z]+|.", mark, text)
    return "\\&" + line if line[:1] in (".", "'") else line


# Words in capitals that are not arguments.
NAMES = {"TLS", "HTTP", "HTTPS", "TCP", "URL", "URI", "ID", "JSON", "YAML", "PEM", "ASCII", "UTF", "RFC", "SIGTERM", "SIGHUP", "SIGINT",
         "LDAP", "PAM", "OIDC", "DN", "QR", "HAR", "SQLite", "XML", "ZIP", "CPU", "IP", "GET", "HEAD", "PUT", "MOVE", "DELETE", "PROPFIND",
         "ACME", "DS", "XDG", "STATE", "HOME", "CLI", "API", "DNS", "ACL", "MIB"}


def summary(commands, name):
    """Returns the first clause of the description in the list of commands."""
    for term, description in commands[""].terms:
        if term.split()[0] == name:
            return description
    return "command"


def page(commands, name, date, version):
    text = commands[name]
    title = f"davit-{name}" if name else "davit"
    about = summary(commands, name) if name else "WebDAV file sharing server"
    out = [f'.TH "{title.upper()}" 1 "{date}" "davit {version}" "User Commands"',
           ".SH NAME", f"{escape(title)} \\- {escape(about)}", ".SH SYNOPSIS", ".nf"]
    out += ["\\fB" + escape(line.strip()) + "\\fR" for line in text.usage]
    out += [".fi", ".SH DESCRIPTION"]
    is_first = True
    for block in text.blocks:
        if isinstance(block, helptext.Paragraph):
            status = re.match(r"Exit status: (.*)", block.text)
            if status:
                out += [".SH EXIT STATUS", marked(status[1][0].upper() + status[1][1:])]
            else:
                out += ([] if is_first else [".PP"]) + [marked(block.text)]
        else:
            if block.heading:
                out.append(f'.SS "{escape(block.heading[0].upper() + block.heading[1:])}"')
            if block.heading == "examples":
                out += [".nf"] + [escape(term) for term, _ in block.rows] + [".fi"]
            else:
                for term, description in block.rows:
                    out += [".TP", marked(term), marked(description)]
        is_first = False
    others = [f"davit\\-{escape(other)}(1)" for other in commands if other and other != name]
    out += [".SH SEE ALSO", ",\n".join((["\\fBdavit\\fR(1)"] if name else []) + [f"\\fB{other[:-3]}\\fR(1)" for other in others])]
    return "\n".join(out) + "\n"


def configuration_page(defaults, date, version):
    """Returns the manual page of the configuration file. Settings follow their comments, and are comments themselves."""
    out = [f'.TH "DAVIT.YAML" 5 "{date}" "davit {version}" "File Formats"',
           ".SH NAME", "davit.yaml \\- configuration of \\fBdavit serve \\-\\-config\\fR", ".SH DESCRIPTION",
           "A YAML file with the options of \\fBdavit\\-serve\\fR(1) as keys, without their dashes, and with lists of shares,",
           "accounts, groups and rules. \\fBdavit config check\\fR finds mistakes, and \\fBdavit config defaults\\fR prints a file",
           "with all settings.", ".SH SETTINGS"]
    comment, example = [], []

    def flush():
        if example:
            key = example[0].split(":")[0]
            text, value = " ".join(comment), example[0].partition(": ")[2]
            # An example is in capitals, or stands for a setting whose default the comment names.
            if len(example) == 1 and value and not value.isupper() and "default" not in text and key != "folder":
                text += f" (default: {value})"
            out.extend([".TP", f"\\fB{escape(key)}\\fR", marked(text)])
            if len(example) > 1:
                out.extend([".RS", ".nf"] + [escape(line) for line in example] + [".fi", ".RE"])
        comment.clear()
        example.clear()

    for line in defaults.splitlines():
        if line.startswith("## "):
            flush()
            out.append(f'.SS "{escape(line[3:4].upper() + line[4:])}"')
        elif line.startswith("#  ") and example:
            example.append(line[1:])
        elif line.startswith("# "):
            if example:
                flush()
            comment.append(line[2:])
        elif line.startswith("#"):
            if re.match(r"#[a-z-]+:", line) and example:
                flush()
            example.append(line[1:])
        else:
            flush()
    flush()
    out += [".SH SEE ALSO", "\\fBdavit\\fR(1), \\fBdavit\\-serve\\fR(1), \\fBdavit\\-config\\fR(1)"]
    return "\n".join(out) + "\n"


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def first_clause(description):
    """Returns the start of a description, for the lists that shells show."""
    clause = re.sub(r"^for [a-z]+: ", "", description)
    return re.split(r"[;(]|[:.](?:\s|$)", clause)[0].strip()


def bash(commands):
    names = [name for name in commands if name]
    out = ["# bash completion for davit", "", "_davit() {",
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}",
           "    COMPREPLY=()", "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
           f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(names)} help --version' -- \"$cur\")", "        return", "    fi",
           "    local words='' places='' actions=''", "    case $command in"]
    for name in names:
        options = commands[name].options()
        places = [option for option, (argument, _, _) in options.items() if argument.split("=")[-1].split("/")[0] in PLACES]
        out.append(f"        {name})")
        for option, (_, values, _) in options.items():
            if values:
                out.append(f"            if [ \"$prev\" = {option} ]; then mapfile -t COMPREPLY < <(compgen -W '{' '.join(values)}' -- \"$cur\"); return; fi")
        valued = [option for option, (argument, values, _) in options.items() if argument and option not in places and not values]
        if valued:
            out.append(f"            case $prev in {'|'.join(valued)}) return ;; esac")
        out.append(f"            words='{' '.join(options)}' actions='{' '.join(commands[name].actions())}' ;;")
    out += [f"        help) words='{' '.join(names)}'; mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"); return ;;", "    esac",
            "    if [[ $cur == -* ]]; then", "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")",
            "    elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$actions\" ]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \"$actions\" -- \"$cur\")",
            "    else", "        compopt -o filenames 2>/dev/null", "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")", "    fi", "}",
            "complete -F _davit davit", ""]
    return "\n".join(out)


def zsh(commands):
    def clean(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", text)
    names = [name for name in commands if name]
    out = ["#compdef davit", "", "local -a commands", "commands=("]
    out += [f"    {quoted(name + ':' + clean(first_clause(summary(commands, name))))}" for name in names]
    out += [")", "if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "fi", "case $words[2] in"]
    for name in names:
        out += [f"    {name})", "        shift words; (( CURRENT-- ))", "        _arguments -S \\"]
        for option, (argument, values, description) in commands[name].options().items():
            spec = f"*{option}[{clean(first_clause(description))}]"
            if values:
                spec += f":{argument}:({' '.join(values)})"
            elif argument:
                place = argument.split("=")[-1].split("/")[0]
                action = "_files -/" if place == "FOLDER" else "_files" if place in PLACES else " "
                spec += f":{clean(argument.split(' ')[0].lower())}:{action}"
            out.append(f"            {quoted(spec)} \\")
        actions = commands[name].actions()
        out.append(f"            {quoted('1:action:(' + ' '.join(actions) + ')')} \\" if actions else "            '1:file:_files' \\")
        out += ["            '*:file:_files'", "        ;;"]
    out += ["    help) _describe command commands ;;", "esac", ""]
    return "\n".join(out)


def fish(commands):
    names = [name for name in commands if name]
    out = ["# fish completion for davit", "complete -c davit -n __fish_use_subcommand -f -l version -d 'Print the version'"]
    for name in names:
        about = first_clause(summary(commands, name))
        out.append(f"complete -c davit -n __fish_use_subcommand -f -a {name} -d {quoted(about[0].upper() + about[1:])}")
    for name in names:
        here = f"'__fish_seen_subcommand_from {name}'"
        for action in commands[name].actions():
            out.append(f"complete -c davit -n {here} -a {action}")
        for option, (argument, values, description) in commands[name].options().items():
            about = first_clause(description)
            line = f"complete -c davit -n {here} -l {option[2:]} -d {quoted(about[:1].upper() + about[1:])}"
            if values:
                line += f" -x -a {quoted(' '.join(values))}"
            elif argument:
                line += " -r" if argument.split("=")[-1].split("/")[0] in PLACES else " -x"
            out.append(line)
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", required=True)
    parser.add_argument("--into", required=True, type=pathlib.Path)
    parser.add_argument("--date", default="")
    options = parser.parse_args()
    commands = helptext.read(options.davit)
    version = subprocess.run([options.davit, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    files = {"bash/davit": bash(commands), "zsh/_davit": zsh(commands), "fish/davit.fish": fish(commands)}
    defaults = subprocess.run([options.davit, "config", "defaults"], check=True, capture_output=True, text=True).stdout
    files["man5/davit.yaml.5"] = configuration_page(defaults.split("\n\n", 1)[1], options.date, version)
    for name in commands:
        files[f"man1/davit{'-' + name if name else ''}.1"] = page(commands, name, options.date, version)
    for name, content in files.items():
        path = options.into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


main()
