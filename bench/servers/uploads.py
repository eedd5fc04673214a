"""davit's library serving a form: the program Examples/Uploads, from the same build folder."""

import os

from .davit import Davit


class Uploads(Davit):
    name = "davit form"
    lock_durability = property_durability = None

    def start(self):
        return self.spawn([self.program(self.setup), self.root, str(self.port)])

    @staticmethod
    def program(setup):
        return os.path.join(os.path.dirname(setup.davit), "Uploads")

    @classmethod
    def settings(cls):
        return "Examples/Uploads: multipart/form-data to a file, then a rename"
