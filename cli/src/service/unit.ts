import { Failure } from '@stowage/rules';

/** The parts of a unit that differ between machines. All paths are absolute. */
export interface UnitOptions {
	/** The user and the group of the same name. Never root. */
	user: string;
	/** The Node that runs the program, and the program's own file. */
	node: string;
	program: string;
	/** The configuration file. */
	config: string;
	dataDir: string;
	/** Folders of files outside of the data folder. */
	storageRoots: readonly string[];
}

export const unitName = 'stowage.service';
/** The path of the additional settings for the sandboxed conversion, relative to the folder of units. */
export const sandboxDropIn = `${unitName}.d/sandbox.conf`;
export const defaultDataDir = '/var/lib/stowage';
export const defaultUser = 'stowage';
export const defaultConfig = '/etc/stowage/config.yaml';
/** Folders that `ProtectHome=` hides. */
const homes = ['/home', '/root', '/run/user'];

/**
 * The service as a hardened systemd unit, for systemd 247 (Debian 11) and later. `systemd-analyze security` rates it 1.7. Throws
 * `invalid` for root, and for a path that systemd can't be given.
 */
export function unitText(options: UnitOptions): string {
	const { user, node, program, config, dataDir, storageRoots } = options;
	assertServiceUser(user);
	const command = [node, '--disable-proto=delete', program, 'serve', '--refuse-root', '--config', config];
	const ownsState = dataDir === defaultDataDir;
	return `# Written by Stowage. To change something, add a drop-in with 'systemctl edit ${unitName}'.
[Unit]
Description=Stowage file browser and sharing server
Wants=network-online.target
# Where the database is on this machine it stops later, too.
After=network-online.target mariadb.service mysql.service
# The data folder only: a storage root that is not mounted must not stop the service.
RequiresMountsFor=${quoted(dataDir)}
StartLimitIntervalSec=120
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart=${command.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
WatchdogSec=60
# A migration of a large database takes its time.
TimeoutStartSec=15min
TimeoutStopSec=30
KillMode=mixed
Restart=on-failure
RestartSec=2
# A wrong configuration is not tried again.
RestartPreventExitStatus=78

User=${user}
Group=${user}
UMask=0027
${ownsState ? 'StateDirectory=stowage\nStateDirectoryMode=0750\n' : ''}RuntimeDirectory=stowage
RuntimeDirectoryMode=0755
${writablePaths(ownsState ? storageRoots : [dataDir, ...storageRoots], dataDir)}
# The kernel may kill a conversion that takes too much memory; the server goes on.
OOMPolicy=continue
OOMScoreAdjust=-200
MemoryHigh=60%
MemoryMax=75%
TasksMax=512
LimitNOFILE=65536
LimitCORE=0

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
${homeProtection(options)}
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
# No PrivateUsers=: it hides the groups that share folders, whose files then could not be given to them.
PrivateIPC=yes
PrivateMounts=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
# No RestrictSUIDSGID=: folders that are copied or moved to another disk keep the setgid bit by which a group shares them.
LockPersonality=yes
KeyringMode=private
RemoveIPC=yes
# No MemoryDenyWriteExecute=: Node compiles JavaScript to machine code at run time.
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @mount @debug @cpu-emulation @obsolete
# Files are given to the group that shares their folder, which must be one of the service's own.
SystemCallFilter=fchown
# The sandbox of the decoders.
SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/**
 * The permissions that bubblewrap needs to run conversions in namespaces of their own; `systemd-analyze security` rates the unit with it
 * 2.6. A sandbox must not mount a `/proc` of its own: the kernel refuses that while parts of `/proc` are protected.
 */
export function sandboxText(): string {
	return `# Written by Stowage: lets it run conversions in a bubblewrap sandbox.
[Service]
RestrictNamespaces=user mnt pid net ipc uts cgroup
RestrictAddressFamilies=AF_NETLINK
SystemCallFilter=@mount capset sethostname
`;
}

/** Throws `invalid` for a name that is none, and for root. */
export function assertServiceUser(user: string): void {
	if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user))
		throw new Failure('invalid', `${user} can't be the name of a system user.`);
	if (user === 'root') throw new Failure('invalid', 'The service does not run as root: name a user of its own.');
}

function writablePaths(paths: readonly string[], dataDir: string): string {
	const lines = paths
		.filter((path) => !isHidden(path))
		// A disk that is missing costs its own part, not the start.
		.map((path) => `ReadWritePaths=${quoted(path === dataDir ? path : `-${path}`)}\n`);
	return lines.join('');
}

/** Homes are hidden, except for the folders that the service uses in them. */
function homeProtection({ node, program, config, dataDir, storageRoots }: UnitOptions): string {
	const written = [dataDir, ...storageRoots].filter(isHidden);
	const read = [node, config, programFolder(program)].filter(isHidden);
	if (written.length + read.length === 0) return 'ProtectHome=yes';
	return [
		'ProtectHome=tmpfs',
		...read.map((path) => `BindReadOnlyPaths=${quoted(path)}`),
		...written.map((path) => `BindPaths=${quoted(path === dataDir ? path : `-${path}`)}`),
	].join('\n');
}

/** The folder that holds the program and all packages that it imports. */
function programFolder(program: string): string {
	const at = program.indexOf('/node_modules/');
	return at === -1 ? program.replace(/\/cli\/bin\/[^/]*$/, '') : program.slice(0, at + '/node_modules'.length);
}

function isHidden(path: string): boolean {
	return homes.some((home) => path === home || path.startsWith(`${home}/`));
}

/** The longest path that the system takes. */
const maxPathBytes = 4095;

/** Why a unit can't name a path; undefined if it can. */
export function unitPathFault(path: string): string | undefined {
	if (Buffer.byteLength(path) > maxPathBytes) return `A path has at most ${maxPathBytes} bytes`;
	return /[\0-\x1f"'\\]/.test(path)
		? "A systemd unit can't name a path with quotes, backslashes or control characters"
		: undefined;
}

/** Escapes a word of a unit file. Throws `invalid` for characters that its syntax does not allow in all places. */
function quoted(word: string): string {
	const path = word.replace(/^-/, '');
	const fault = unitPathFault(path);
	if (fault !== undefined) throw new Failure('invalid', `${fault}: ${path}`);
	const escaped = word.replaceAll('%', '%%');
	// What follows a colon would be the place at which a folder is mounted.
	return /[\s:]/.test(escaped) ? `"${escaped}"` : escaped;
}
