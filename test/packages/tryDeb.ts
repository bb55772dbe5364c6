import { appendFile, copyFile, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { startServer } from '../serverProcess.js';
import { checkServing } from './checkServing.js';
import { copyOfMachine } from './copyOfMachine.js';

/** Installs, upgrades, removes and purges a Debian package, and uses what it installs. */
export async function tryDeb(t: ExecutionContext, deb: string): Promise<void> {
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

	await run('stowage', 'config', 'init', '--yes', '--public-url', 'https://files.example.org');
	t.like(await stat(at('etc/stowage/config.yaml')), { uid: 0, gid, mode: 0o100640 });
	t.regex(await readFile(at('etc/stowage/config.yaml'), 'utf8'), /^dataDir: \/var\/lib\/stowage$/m);
	await run('stowage', 'config', 'init', '--yes', '--force', '--public-url', '', '--visitors', 'upload');

	// The password comes from standard input.
	const added = await run('sh', '-c', 'echo correct horse | stowage user add ada --log-level error');
	t.is(added.trim(), 'Added ada.');
	t.like(await stat(at('var/lib/stowage/stowage.db')), { uid, gid }, 'a command of root runs as the service’s user');
	const serve = ['/usr/bin/stowage', 'serve', '--port', '0'];
	const server = await startServer(t, { command: 'chroot', args: [root, ...serve] });
	await checkServing(t, server.url);
	const [, check = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(await readFile('Dockerfile', 'utf8')) ?? [];
	const isHealthy = (port: string) => run('env', `STOWAGE_PORT=${port}`, ...(JSON.parse(check) as string[]));
	t.is(await isHealthy(new URL(server.url).port), 'ok\n', 'the image’s health check');
	await t.throwsAsync(isHealthy('1'));
	await server.stop();

	await appendFile(at('etc/stowage/config.yaml'), '\nport: 8080\n');
	await dpkg('--install', '/tmp/stowage.deb');
	t.regex(await readFile(at('etc/stowage/config.yaml'), 'utf8'), /^port: 8080$/m, 'an upgrade keeps the configuration');
	t.regex(await run('stowage', 'user', 'list'), /^ada\t/m, 'an upgrade keeps the data');

	await dpkg('--remove', 'stowage');
	t.false(await exists('usr/bin/stowage'));
	t.false(await exists('etc/systemd/system/multi-user.target.wants/stowage.service'));
	t.true(await exists('etc/stowage/config.yaml'));
	t.regex(await dpkg('--purge', 'stowage'), /The files in \/var\/lib\/stowage are kept/);
	t.false(await exists('etc/stowage'));
	t.true(await exists('var/lib/stowage/stowage.db'));
}
