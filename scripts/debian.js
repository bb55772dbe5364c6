import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, readdir, readFile, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Failed, run } from './run.js';

/**
 * Programs that the tests start, and the Debian package of each. Those of required packages, such as bash, coreutils
 * and mount, are on every Debian.
 */
const programs = {
	chromium: 'chromium',
	'chromium-headless-shell': 'chromium-headless-shell',
	mariadbd: 'mariadb-server',
	'mariadb-install-db': 'mariadb-server',
	ffmpeg: 'ffmpeg',
	ffprobe: 'ffmpeg',
	'heif-enc': 'libheif-examples',
	pdftoppm: 'poppler-utils',
	HandBrakeCLI: 'handbrake-cli',
	bwrap: 'bubblewrap',
	nginx: 'nginx',
	caddy: 'caddy',
	'fail2ban-regex': 'fail2ban',
	strace: 'strace',
	getfacl: 'acl',
	setfacl: 'acl',
	zip: 'zip',
	unzip: 'unzip',
	'7z': 'p7zip-full',
	bsdtar: 'libarchive-tools',
	busybox: 'busybox',
	java: 'default-jdk-headless',
	javac: 'default-jdk-headless',
	python3: 'python3',
	curl: 'curl',
	rsync: 'rsync',
	lintian: 'lintian',
	'systemd-analyze': 'systemd',
	'systemd-sysusers': 'systemd',
	systemctl: 'systemd',
};

/** Debian keeps servers in sbin, which is not on every user's path. */
const system = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];

/** Installs what the tests need on Debian as root; elsewhere throws `Failed` with what is missing. */
export async function ensureDebianPackages() {
	const missing = await missingPackages();
	if (missing.length === 0) return;
	const canInstall = process.getuid?.() === 0 && (await isDebian());
	if (canInstall) {
		console.error(`Installing ${missing.join(', ')} ...`);
		const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
		await run('apt-get', ['update', '-qq'], { env });
		await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
			env,
			stdio: ['ignore', 'ignore', 'inherit'],
		});
	}
	const left = canInstall ? await missingPackages() : missing;
	if (left.length === 0) return;
	const names = left.join(', ');
	throw new Failed(`The tests need these programs, and none is skipped: ${names} (names of Debian's packages).`);
}

/**
 * Makes a folder of links to the programs that a test may start: the list, Node with npm, and those of Debian's
 * required packages. As the only folder of the PATH it shows on each machine what a new one lacks. False where this is
 * not Debian, so that nothing says which programs every machine has.
 */
export async function linkPrograms(folder) {
	if (!(await isDebian())) return false;
	await mkdir(folder);
	// Other users run programs, too.
	await chmod(folder, 0o755);
	const links = new Map([
		...(await requiredPrograms()),
		...(await Promise.all(Object.keys(programs).map(async (name) => [name, await find(name)]))),
		['node', process.execPath],
	]);
	for (const name of ['npm', 'npx']) links.set(name, await find(name, [path.dirname(process.execPath), ...ownPath()]));
	for (const [name, target] of links) if (target !== undefined) await symlink(target, path.join(folder, name));
	return true;
}

/** Pairs of a name and a path. Names may be links by Debian's alternatives, as `awk` is. */
async function requiredPrograms() {
	const query = ['-W', '-f', `\${Package} \${Priority} \${Essential}\n`];
	const { stdout } = await promisify(execFile)('dpkg-query', query);
	const packages = stdout.split('\n').filter((line) => / required | yes$/.test(line));
	const names = packages.map((line) => line.split(' ')[0]);
	const { stdout: files } = await promisify(execFile)('dpkg-query', ['-L', ...names], { maxBuffer: 2 ** 26 });
	const owned = files.split('\n').filter((file) => /^(\/usr)?\/s?bin\/[^/]+$/.test(file));
	const required = new Set(await Promise.all(owned.map((file) => realpath(file).catch(() => file))));
	const found = [];
	for (const place of system) {
		for (const name of await readdir(place).catch(() => [])) {
			const file = path.join(place, name);
			if (required.has(await realpath(file).catch(() => undefined))) found.push([name, file]);
		}
	}
	return found;
}

async function missingPackages() {
	const found = await Promise.all(Object.keys(programs).map((name) => find(name)));
	return [...new Set(Object.values(programs).filter((_, index) => found[index] === undefined))];
}

function ownPath() {
	return (process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute);
}

/** Debian's own first: a developer may have others of the same name. */
async function find(program, folders = [...system, ...ownPath()]) {
	for (const folder of folders) {
		const file = path.join(folder, program);
		try {
			await access(file, constants.X_OK);
			return file;
		} catch {
			// Not in this folder.
		}
	}
	return undefined;
}

async function isDebian() {
	try {
		return /^ID(_LIKE)?=.*debian/m.test(await readFile('/etc/os-release', 'utf8'));
	} catch {
		return false;
	}
}
