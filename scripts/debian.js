import { access, constants, readFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './run.js';

/** Programs that the tests use as they are, and the Debian package of each. */
const programs = {
	chromium: 'chromium',
	'chromium-headless-shell': 'chromium-headless-shell',
	mariadbd: 'mariadb-server',
	ffmpeg: 'ffmpeg',
	'heif-enc': 'libheif-examples',
	pdftoppm: 'poppler-utils',
	HandBrakeCLI: 'handbrake-cli',
	bwrap: 'bubblewrap',
	nginx: 'nginx',
	caddy: 'caddy',
	strace: 'strace',
	setpriv: 'util-linux',
	setfacl: 'acl',
	zip: 'zip',
	unzip: 'unzip',
	'7z': 'p7zip-full',
	bsdtar: 'libarchive-tools',
	busybox: 'busybox',
	javac: 'default-jdk-headless',
	python3: 'python3',
	curl: 'curl',
	'systemd-analyze': 'systemd',
};

/** Installs what the tests need on Debian as root; elsewhere names what is missing and stops. */
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
	console.error(`The tests need these programs, and none is skipped: ${left.join(', ')} (names of Debian's packages).`);
	process.exit(1);
}

async function missingPackages() {
	const found = await Promise.all(Object.keys(programs).map(isOnPath));
	return [...new Set(Object.values(programs).filter((_, index) => !found[index]))];
}

async function isOnPath(program) {
	// Debian keeps servers in sbin, which is not on every user's path.
	for (const folder of [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']) {
		try {
			await access(path.join(folder, program), constants.X_OK);
			return true;
		} catch {
			// Not in this folder.
		}
	}
	return false;
}

async function isDebian() {
	try {
		return /^ID(_LIKE)?=.*debian/m.test(await readFile('/etc/os-release', 'utf8'));
	} catch {
		return false;
	}
}
