#!/usr/bin/env python3
"""Creates the tree that the clients copy: make_tree.py FOLDER [FILES | small]

2,000 files by default, always the same: names that clients and servers often mishandle, empty files and folders, deep
folders, and one file of a few MiB. All names are UTF-8, because not every client can send other names. A small tree has
a few files and folders of each kind, for recordings that are kept.
"""

import os
import random
import sys

ODD = [
    "with space", " leading space", "two  spaces", "100%", "100%25", "%41", "a+b", "a#b", "a?b", "a&b", "a&amp;b",
    "a=b", "a;b", "a:b", "a,b", "a@b", "a!b", "a$b", "a'b", 'a"b', "a<b>", "(a)", "[a]", "{a}", "a|b", "a\\b",
    "a^b", "a`b", "a~b", "~a", ".hidden", "..two dots", "a.b.c", "-dash", "_under", "CON", "Thumbs.db", ".DS_Store",
    "._fork", "~$owner.docx", ".~lock.a.odt#", "a.sb-0123abcd-XyZ", "index.html", "ü composed", "u\u0308 decomposed",
    "日本語", "Привет", "עברית", "emoji 🎉", "ß", "İi", "ﬁ ligature", "e\u0301\u0301", "\u200bzero width",
    "n" * 200, "ö" * 100, "x" * 196 + ".txt",
]
LARGE = 5 * 1024 * 1024 + 17


def content(random_, size):
    return random_.randbytes(size)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def make(root, count, small=False):
    random_ = random.Random(4918)
    os.makedirs(root)
    made = 0

    def add(folder, name, size):
        nonlocal made
        write(os.path.join(folder, name), content(random_, min(size, 40) if small and size != LARGE else size))
        made += 1

    odd = os.path.join(root, "odd names")
    os.mkdir(odd)
    for index, name in enumerate(ODD[::12] if small else ODD):
        add(odd, name, 0 if index % 7 == 0 else random_.randrange(1, 3000))
    for name in ODD[:1] if small else ODD[:20]:
        folder = os.path.join(root, "odd folders", name + " folder")
        os.makedirs(folder)
        add(folder, name, 50)
        os.mkdir(os.path.join(folder, "empty"))
    deep = root
    for level in range(2 if small else 20):
        deep = os.path.join(deep, f"level {level}")
        os.mkdir(deep)
        add(deep, "file", level)
    add(root, "large.bin", LARGE)
    os.makedirs(os.path.join(root, "empty", "also empty"))
    index = 0
    while made < count or index < 2:
        folder = os.path.join(root, f"folder {index // 100:02d}")
        if index % 100 == 0:
            os.mkdir(folder)
        add(folder, f"file {index:04d}.txt", random_.choice((0, 1, 100, 1000, 4096, 20000)))
        index += 1


if __name__ == "__main__":
    files = sys.argv[2] if len(sys.argv) > 2 else "2000"
    if files == "small":
        make(sys.argv[1], 0, small=True)
    else:
        make(sys.argv[1], int(files))
