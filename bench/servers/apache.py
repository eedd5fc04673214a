"""Apache with mod_dav, mod_dav_fs and the event MPM."""

import os
import pwd
import signal
import subprocess

from .base import Server, output_of

USER = "www-data"
MODULES = ["mpm_event", "authz_core", "mime", "dav", "dav_fs"]


class Apache(Server):
    name = "Apache"
    lock_durability = property_durability = "SDBM, not synced: death of the process"
    stop_signal = signal.SIGTERM
    modules = "/usr/lib/apache2/modules"
    threads = 64

    def start(self):
        # Apache refuses to serve as root, so the shared folder must belong to its user.
        if os.geteuid() == 0:
            os.makedirs(os.path.join(self.state, "locks"), exist_ok=True)
            for folder in (self.root, self.beside, self.state):
                subprocess.run(["chown", "-R", f"{USER}:", folder], check=True)
        path = self.write("apache.conf", self.config())
        return self.spawn(["apache2", "-D", "FOREGROUND", "-d", self.state, "-f", path])

    def config(self):
        modules = "\n".join(f"LoadModule {name}_module {self.modules}/mod_{name}.so" for name in MODULES)
        user = f"User {USER}\nGroup {pwd.getpwnam(USER).pw_gid and USER}" if os.geteuid() == 0 else ""
        return f"""
{modules}
{user}
ServerName 127.0.0.1
ServerTokens Prod
Listen 127.0.0.1:{self.port}
ListenBacklog 4096
PidFile {self.state}/pid
DefaultRuntimeDir {self.state}
Mutex default:{self.state}
ErrorLog {self.state}/error.log
LogLevel crit
TypesConfig /dev/null
StartServers {self.setup.cores}
ServerLimit {self.setup.cores}
ThreadLimit {self.threads}
ThreadsPerChild {self.threads}
MaxRequestWorkers {self.threads * self.setup.cores}
MinSpareThreads 1
MaxSpareThreads {self.threads * self.setup.cores}
AsyncRequestWorkerFactor 512
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
Timeout 3600
EnableSendfile On
DocumentRoot "{self.root}"
DavLockDB "{self.state}/locks/lockdb"
<Directory "{self.root}">
    Options FollowSymLinks
    AllowOverride None
    Require all granted
    Dav On
    DavDepthInfinity On
    LimitXMLRequestBody 0
</Directory>
"""

    @classmethod
    def settings(cls):
        return ("event MPM, a process of 64 threads for each core (512 for 1,000 connections), no access log, EnableSendfile On, keep-alive without "
                "limit, AllowOverride None")

    @classmethod
    def version(cls, setup):
        return output_of("apache2", "-v").partition("/")[2].split()[0]


class BusyApache(Apache):
    """Has 512 threads per core, which on two cores are enough for 1,000 connections; with fewer threads than connections, Apache
    closes waiting ones."""

    threads = 512
