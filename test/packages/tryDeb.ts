import { appendFile, copyFile, lstat, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { startServer } from '../serverProcess.js';
import { checkServing } from './checkServing.js';
import type { Installed } from './checkWork.js';
import { copyOfMachine } from './copyOfMachine.js';

/** Of packages of others: what no server loads, or only one with musl. */
const neverLoaded = /musl|\.(d\.[cm]?ts|h|cc|map)$/;

/** Imports all packages that the program depends on, so that nothing of them is missing. */
const importAll = `
const { readFile } = await import('node:fs/promises');
const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
for (const name of Object.keys(dependencies)) if (!name.startsWith('@stowage/')) await import(name);
console.log(Object.keys(dependencies).length);
`;

/** Installs, upgrades, removes and purges a Debian package, and uses what it installs; `use` does so besides. */
export async function tryDeb(
	t: ExecutionContext,
	deb: string,
	use: (installed: Installed) => Promise<void> = async () => {},
): Promise<void> {
	const { root, run } = await copyOfMachine(t);
	const at = (file: string) => path.join(root, file);
	const exists = (file: string) =>
		stat(at(file)).then(
			() => true,
			() => false,
		);
	const dpkg = (...args: string[]) => run('dpkg', '--force-unsafe-io', ...args);
	await copyFile(deb, at('tmp/stowage.deb'));

	const plan = await run('apt-get', 'install', '--simulate', '--no-install-recommends', '/tmp/stowage.deb');
	t.regex(plan, /^Inst stowage /m, 'Debian has all dependencies');
	t.regex(await dpkg('--install', '/tmp/stowage.deb'), /^Stowage: .* sudo stowage config init$/m);
	const [, , uid, gid] = (await run('getent', 'passwd', 'stowage')).split(':').map(Number);
	t.like(await stat(at('var/lib/stowage')), { uid, gid, mode: 0o40750 });
	t.like(await stat(at('etc/stowage/config.yaml')), { uid: 0, gid, mode: 0o100640 });
	t.is((await run('systemctl', 'is-enabled', 'stowage')).trim(), 'enabled');
	await run('systemd-analyze', 'verify', '/lib/systemd/system/stowage.service');
	t.is(await run('dpkg', '--verify', 'stowage'), '', 'each file is as it was packed');

	const files = (await run('dpkg', '-L', 'stowage')).split('\n');
	const foreign = files.filter((file) => file.includes('/node_modules/') && !file.includes('/@stowage/'));
	t.deepEqual(
		foreign.filter((file) => neverLoaded.test(file)),
		[],
	);
	const imported = await run(
		'sh',
		'-c',
		`cd /usr/lib/stowage/app && ../bin/node --input-type=module -e "$0"`,
		importAll,
	);
	t.true(Number(imported) > 10, imported);
	t.regex(await run('zcat', '/usr/share/man/man1/stowage.1.gz'), /^\.SS stowage user move\\-root$/m);
	t.regex(
		await run('zcat', '/usr/share/doc/stowage/changelog.gz'),
		/^stowage \(.*\) unstable; urgency=medium\n\n {2}\* /,
	);
	await run('bash', '-n', '/usr/share/bash-completion/completions/stowage');
	t.regex(await readFile(at('etc/fail2ban/jail.d/stowage.conf'), 'utf8'), /^enabled *= false$/m);
	const version = await run('dpkg-query', '-W', '-f', `\${Version}`, 'stowage');
	t.is((await run('stowage', '--version')).trim(), version);

	await run('stowage', 'config', 'init', '--yes', '--public-url', 'https://files.example.org');
	t.like(await stat(at('etc/stowage/config.yaml')), { uid: 0, gid, mode: 0o100640 });
	t.regex(await readFile(at('etc/stowage/config.yaml'), 'utf8'), /^dataDir: \/var\/lib\/stowage$/m);
	await run('stowage', 'config', 'init', '--yes', '--force', '--public-url', '', '--visitors', 'upload');

	// The password comes from standard input.
	const added = await run('sh', '-c', 'echo correct horse | stowage user add ada --log-level error');
	t.is(added.trim(), 'Added ada.');
	t.like(await stat(at('var/lib/stowage/stowage.db')), { uid, gid }, 'a command of root runs as the service’s user');
	const serve = ['/usr/bin/stowage', 'serve', '--port', '0'];
	const start = () => startServer(t, { command: 'chroot', args: [root, ...serve] });
	const server = await start();
	t.like(await (await fetch(`${server.url}/api/health`)).json(), { version });
	await checkServing(t, server.url);
	const [, check = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(await readFile('Dockerfile', 'utf8')) ?? [];
	const isHealthy = (port: string) => run('env', `STOWAGE_PORT=${port}`, ...(JSON.parse(check) as string[]));
	t.is(await isHealthy(new URL(server.url).port), 'ok\n', 'the image’s health check');
	await t.throwsAsync(isHealthy('1'));
	await server.stop();
	await use({ home: at('var/lib/stowage/files/users/ada'), uid: uid as number, gid: gid as number, start });

	await appendFile(at('etc/stowage/config.yaml'), '\nport: 8080\n');
	await dpkg('--install', '/tmp/stowage.deb');
	t.regex(await readFile(at('etc/stowage/config.yaml'), 'utf8'), /^port: 8080$/m, 'an upgrade keeps the configuration');
	t.regex(await run('stowage', 'user', 'list'), /^ada\t/m, 'an upgrade keeps the data');

	// The link itself: it leads to a unit of the copy.
	const isEnabled = () =>
		lstat(at('etc/systemd/system/multi-user.target.wants/stowage.service')).then(
			() => true,
			() => false,
		);
	for (const [state, remains] of [
		['disable', false],
		['enable', true],
	] as const) {
		await run('systemctl', state, '--quiet', 'stowage');
		await dpkg('--remove', 'stowage');
		t.false(await isEnabled());
		await dpkg('--install', '/tmp/stowage.deb');
		t.is(await isEnabled(), remains, 'who installs it again after a removal has it as it was');
		t.false(await exists('etc/stowage/.enabled'));
	}

	await dpkg('--remove', 'stowage');
	t.false(await exists('usr/bin/stowage'));
	t.false(await isEnabled());
	t.true(await exists('etc/stowage/config.yaml'));
	t.regex(await dpkg('--purge', 'stowage'), /The files in \/var\/lib\/stowage are kept/);
	t.false(await exists('etc/stowage'));
	t.true(await exists('var/lib/stowage/stowage.db'));

	await run('rm', '-r', '/var/lib/stowage');
	await symlink('/mnt/away/stowage', at('var/lib/stowage'));
	await mkdir(at('run/systemd/system'), { recursive: true });
	await rm(at('usr/bin/systemctl'));
	await writeFile(at('usr/bin/systemctl'), '#!/bin/sh\ncase $1 in start|try-restart) exit 1 ;; esac\n', {
		mode: 0o755,
	});
	for (const what of ['an installation', 'an upgrade']) {
		t.regex(await dpkg('--install', '/tmp/stowage.deb'), /^Stowage: the server did not start\./m, what);
		t.is(await run('dpkg-query', '-W', '-f', `\${Status}`, 'stowage'), 'install ok installed', what);
	}
	t.is(await readlink(at('var/lib/stowage')), '/mnt/away/stowage', 'a link to a disk that is away stays');
	await dpkg('--purge', 'stowage');
	t.is(await readlink(at('var/lib/stowage')), '/mnt/away/stowage');
}
