import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
	chmod,
	chown,
	lchown,
	lstat,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rm,
	stat,
	symlink,
	writeFile,
} from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { openDatabase } from '../../packages/database/src/index.js';
import { serveArgs, startServer } from '../../test/serverProcess.js';
import { parseAnswer } from '../src/service/addedRootsAsOwner.js';
import { assertReadableByAll } from '../src/service/install.js';
import { installedUnit } from '../src/service/installedUnit.js';
import { limitedStep } from '../src/service/steps.js';
import { createHeartbeat } from '../src/service/supervisor.js';
import { type UnitOptions, unitText } from '../src/service/unit.js';
import { unitFaultOf } from '../src/service/unitFault.js';
import { run as runHere, stowage as stowageProgram } from './program.js';
import { serviceManager } from './serviceManager.js';
import { verifyUnit } from './verifyUnit.js';

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-service-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Runs a program to its end. */
async function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
	try {
		const { stdout, stderr } = await promisify(execFile)(command, args, { env: { ...process.env, NODE_OPTIONS: '' } });
		return { code: 0, output: stdout + stderr };
	} catch (error) {
		const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
		return { code, output: stdout + stderr };
	}
}

async function stowage(...args: string[]): Promise<{ code: number; output: string }> {
	const { code, stdout, stderr } = await runHere(args);
	const output = [stdout, stderr].filter(Boolean).map((text) => `${text}\n`);
	return { code, output: output.join('') };
}

/** The exposure level that `systemd-analyze security` gives a unit, from 0 to 10. Lower is better. */
async function exposureOf(unit: string): Promise<number> {
	const { output } = await run('systemd-analyze', ['security', '--offline=yes', '--no-pager', unit]);
	return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(output)?.[1]);
}

test('the unit passes systemd-analyze verify and has an exposure level of at most 1.7, with the sandbox drop-in 2.6', async (t) => {
	const unit = path.join(await temporaryFolder(t), 'stowage.service');
	const printed = await stowage('service', 'print', '--config', '/etc/stowage/config.yaml');
	t.is(printed.code, 0, printed.output);
	await writeFile(unit, printed.output);
	t.deepEqual(await verifyUnit(unit), { code: 0, output: '' });
	const exposure = await exposureOf(unit);
	t.true(exposure <= 1.7, String(exposure));

	await mkdir(`${unit}.d`);
	await writeFile(`${unit}.d/sandbox.conf`, (await stowage('service', 'print', '--drop-in')).output);
	t.deepEqual(await verifyUnit(unit), { code: 0, output: '' });
	const sandboxed = await exposureOf(unit);
	t.true(sandboxed > exposure && sandboxed <= 2.6, String(sandboxed));
});

const options: UnitOptions = {
	user: 'stowage',
	node: process.execPath,
	program: '/usr/lib/stowage/bin/stowage.js',
	config: '/etc/stowage/config.yaml',
	dataDir: '/var/lib/stowage',
	storageRoots: [],
};

test('the unit may write to the folders of the configuration, also those with special characters, and to nothing else', async (t) => {
	const unit = path.join(await temporaryFolder(t), 'stowage.service');
	const text = unitText({
		...options,
		program: process.execPath,
		config: '/srv/100% $mine/config.yaml',
		dataDir: '/srv/100% $mine/data',
		storageRoots: ['/mnt/photos', '/home/ada/files', '/home/ada/more:/etc'],
	});
	t.deepEqual(text.match(/^(ReadWritePaths|RequiresMountsFor|StateDirectory|Protect(System|Home)|Bind.*Paths)=.*$/gm), [
		'RequiresMountsFor="/srv/100%% $mine/data"',
		'ReadWritePaths="/srv/100%% $mine/data"',
		'ReadWritePaths=-/mnt/photos',
		'ProtectSystem=strict',
		'ProtectHome=tmpfs',
		'BindPaths=-/home/ada/files',
		// Without quotes its part before the colon would lie in the place of /etc.
		'BindPaths="-/home/ada/more:/etc"',
	]);
	await writeFile(unit, text);
	t.deepEqual(await verifyUnit(unit), { code: 0, output: '' });
	t.regex(text, /^ExecStart=.*"\/srv\/100%% \$\$mine\/config\.yaml"$/m);
	t.throws(() => unitText({ ...options, dataDir: '/srv/a\nExecStart=/bin/sh' }), { message: /can't name a path/ });
});

/** Mounts a new file system at a folder. */
async function mountDisk(t: ExecutionContext, folder: string): Promise<void> {
	await mkdir(folder);
	t.like(await run('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'none', folder]), { code: 0 });
	t.teardown(() => run('umount', ['-l', folder]));
}

test('the unit names the mount point of each storage root in the database, and a database that can’t be read causes a warning', async (t) => {
	const folder = await temporaryFolder(t);
	const at = (...names: string[]) => path.join(folder, ...names);
	await mountDisk(t, at('disk'));
	const flags = ['--data-dir', at('data'), '--log-level', 'error'];
	t.like(await runHere(['root', 'add', 'near', at('near'), ...flags]), { code: 0 });
	t.like(await runHere(['root', 'add', 'far', at('disk/stowage'), ...flags]), { code: 0 });
	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\n`);
	const unit = await runHere(['service', 'print', '--config', at('config.yaml')]);
	t.deepEqual(
		unit.stdout.match(/^ReadWritePaths=.*$/gm),
		[at('data'), `-${at('disk')}`, `-${at('near')}`].map((line) => `ReadWritePaths=${line}`),
	);

	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\ndatabaseUrl: sqlite:${at('config.yaml')}\n`);
	const without = await runHere(['service', 'print', '--config', at('config.yaml')]);
	t.is(without.code, 0);
	t.regex(without.stderr, /^The unit lacks storage roots that were added, for the database can't be read/m);
});

test('a storage root in the database that no unit can name costs its own part: it is left out and named', async (t) => {
	const folder = await temporaryFolder(t);
	const at = (...names: string[]) => path.join(folder, ...names);
	await mountDisk(t, at('disk'));
	const flags = ['--data-dir', at('data'), '--log-level', 'error'];
	t.like(await runHere(['root', 'add', 'good', at('disk/good'), ...flags]), { code: 0 });
	const endless = `/${'a/'.repeat(1_000_000)}`;
	const hostile = ['/srv/a\nExecStart=/bin/sh', `/srv/a'b`, '/srv/\u202eb', '/proc/sys', endless];
	const database = await openDatabase(`sqlite:${at('data/stowage.db')}`);
	for (const [n, location] of hostile.entries())
		await database.roots.add({ name: `bad${n}`, rootId: String(n).repeat(32), driver: 'local', location });
	await database.close();
	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\n`);
	const { code, stdout, stderr } = await runHere(['service', 'print', '--config', at('config.yaml')]);
	t.is(code, 0, stderr);
	t.deepEqual(
		stdout.match(/^ReadWritePaths=.*$/gm),
		[at('data'), `-${at('disk')}`].map((line) => `ReadWritePaths=${line}`),
	);
	const lacks = stderr.split('\n').map((line) => line.replace('The unit lacks the storage root ', ''));
	t.is(lacks.length, hostile.length, stderr);
	for (const expected of [
		/^\/srv\/a\\u000aExecStart=\/bin\/sh\. A systemd unit can't name a path with quotes/,
		/^\/srv\/a'b\. A systemd unit can't name a path with quotes/,
		/^\/srv\/\\u202eb, since its disk is not mounted/,
		/^\/proc\/sys, since its disk is not mounted/,
		/^\/(?:a\/){50,150}a?\. A path has at most 4095 bytes\.$/,
	])
		t.true(
			lacks.some((line) => expected.test(line)),
			`${expected} ${stderr}`,
		);
});

const answers = test.macro((t, text: string, expected: ReturnType<typeof parseAnswer>) => {
	t.deepEqual(parseAnswer(text), expected);
});

test('roots that another user’s process has read are taken', answers, '{"roots":["/srv/a"]}', { roots: ['/srv/a'] });
test('a fault of that process is taken', answers, '{"fault":"closed"}', { fault: 'closed' });
for (const text of ['', 'null', '[]', '{', '"/srv"', '{"roots":"/srv"}', '{"roots":[1]}', '{"roots":["srv"]}'])
	test(`no answer of that process: ${text}`, answers, text, undefined);
test('no answer of that process: more roots than anybody has', (t) => {
	t.is(parseAnswer(JSON.stringify({ roots: Array(1001).fill('/srv') })), undefined);
	t.is((parseAnswer(JSON.stringify({ fault: 'x'.repeat(1e6) })) as { fault: string }).fault.length, 1000);
});

test('a unit that denies a folder to the service, or keeps a disk mounted in it, is reported with a remedy', async (t) => {
	const folder = await temporaryFolder(t);
	const disk = path.join(folder, 'disk');
	await mountDisk(t, disk);
	t.is(await installedUnit(folder), undefined);
	const write = async (name: string, text: string) => {
		await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
		await writeFile(path.join(folder, name), text);
	};
	const faultOf = async (of: string) => {
		const unit = await installedUnit(folder);
		return unit && unitFaultOf(unit, of);
	};
	// As a package installs it.
	await write('lib/systemd/system/stowage.service', unitText({ ...options, storageRoots: ['/mnt/my photos'] }));
	t.is((await installedUnit(folder))?.user, 'stowage');
	for (const each of ['/var/lib/stowage', '/run/stowage', '/mnt/my photos', '/mnt/my photos/of ada'])
		t.is(await faultOf(each), undefined, each);
	t.like(await faultOf('/mnt/my'), { isWritable: false });
	const lacking = await faultOf(`${disk}/stowage`);
	t.regex(lacking?.remedy ?? '', new RegExp(`systemctl edit stowage, with .*ReadWritePaths=-${disk},`));
	await write('etc/systemd/system/stowage.service.d/disk.conf', `[Service]\nReadWritePaths=-${disk}/stowage\n`);
	const kept = await faultOf(`${disk}/stowage`);
	t.true(kept?.isWritable);
	t.regex(kept?.message ?? '', /keeps that disk when it is unmounted/);
	await write('etc/systemd/system/stowage.service.d/disk.conf', `[Service]\nReadWritePaths=-${disk}\n`);
	t.is(await faultOf(`${disk}/stowage`), undefined);
	await write('etc/systemd/system/stowage.service.d/none.conf', '[Service]\nReadWritePaths=\n');
	t.like(await faultOf('/mnt/my photos'), { isWritable: false });

	// As the command installs it: homes are hidden except for the folders that it names.
	await write('etc/systemd/system/stowage.service.d/none.conf', '');
	await write(
		'etc/systemd/system/stowage.service',
		unitText({ ...options, storageRoots: ['/home/ada/files', '/home/ada/a:b'] }),
	);
	for (const each of ['/home/ada/files', '/home/ada/a:b']) t.is(await faultOf(each), undefined, each);
	t.like(await faultOf('/home/ada'), { isWritable: false, remedy: 'sudo stowage service install' });
});

test('the unit is not written for root, and its program refuses to run as root', async (t) => {
	t.deepEqual(await stowage('service', 'print', '--user', 'root'), {
		code: 1,
		output: 'The service does not run as root: name a user of its own.\n',
	});
	t.regex((await stowage('service', 'print', '--user', 'a b')).output, /can't be the name of a system user/);
	const refused = ['serve', '--refuse-root', '--port', '0', '--data-dir', await temporaryFolder(t)];
	t.true(process.getuid?.() === 0, 'the tests of services run as root');
	t.like(await stowage(...refused), { code: 78 });
});

test('service install and uninstall work in another root folder, and keep the configuration and the data', async (t) => {
	const root = await temporaryFolder(t);
	await mkdir(path.join(root, 'etc'));
	const inRoot = (...names: string[]) => path.join(root, ...names);
	const install = (...args: string[]) => stowage('service', 'install', '--root', root, ...args);

	const dry = await install('--dry-run', '--sandbox');
	t.deepEqual(dry, {
		code: 0,
		output: [
			`write ${root}/etc/sysusers.d/stowage.conf`,
			`systemd-sysusers --root=${root} ${root}/etc/sysusers.d/stowage.conf`,
			`write ${root}/etc/stowage/config.yaml`,
			`write ${root}/etc/systemd/system/stowage.service`,
			`write ${root}/etc/systemd/system/stowage.service.d/sandbox.conf`,
			`systemctl --root=${root} enable stowage.service\n`,
		].join('\n'),
	});
	await t.throwsAsync(stat(inRoot('etc/stowage')), { code: 'ENOENT' }, 'a dry run changes nothing');

	t.like(await install('--sandbox'), { code: 0 });
	const [, , uid, gid] = /^stowage:.*$/m.exec(await readFile(inRoot('etc/passwd'), 'utf8'))?.[0]?.split(':') ?? [];
	const config = inRoot('etc/stowage/config.yaml');
	t.like(await stat(config), { uid: 0, gid: Number(gid), mode: 0o100640 });
	const wanted = inRoot('etc/systemd/system/multi-user.target.wants/stowage.service');
	t.true((await lstat(wanted)).isSymbolicLink(), 'it starts with the machine');

	await writeFile(config, 'dataDir: /srv/stowage\nport: 8080\n');
	t.like(await install(), { code: 0 });
	t.is(await readFile(config, 'utf8'), 'dataDir: /srv/stowage\nport: 8080\n', 'the configuration is kept');
	t.like(await stat(inRoot('srv/stowage')), { uid: Number(uid), gid: Number(gid), mode: 0o40750 });
	const unit = inRoot('etc/systemd/system/stowage.service');
	t.regex(await readFile(unit, 'utf8'), /^ReadWritePaths=\/srv\/stowage$/m);

	t.like(await stowage('service', 'uninstall', '--root', root), { code: 0 });
	await t.throwsAsync(stat(unit), { code: 'ENOENT' });
	t.true((await stat(inRoot('srv/stowage'))).isDirectory());
	t.is(await readFile(config, 'utf8'), 'dataDir: /srv/stowage\nport: 8080\n');
	t.regex((await stowage('service', 'uninstall', '--root', root)).output, /^There is no service to uninstall/);
});

test('service install goes on with the user, the configuration and the sandbox of the unit that it has written', async (t) => {
	const root = await temporaryFolder(t);
	await mkdir(path.join(root, 'etc'));
	await mkdir(path.join(root, 'srv/my files'), { recursive: true });
	const file = '/srv/my files/100% $5.yaml';
	await writeFile(path.join(root, file), 'dataDir: /srv/data\n');
	const install = (...args: string[]) => stowage('service', 'install', '--root', root, ...args);
	const unit = path.join(root, 'etc/systemd/system/stowage.service');
	const first = await install('--user', 'files', '--config', file, '--sandbox');
	t.is(first.code, 0, first.output);
	const text = await readFile(unit, 'utf8');

	t.is((await install()).code, 0);
	t.is(await readFile(unit, 'utf8'), text);
	await stat(`${unit}.d/sandbox.conf`);
	const full = `sudo stowage service install --user files --config '${file}' --sandbox`;
	const installed = await installedUnit(root);
	t.is(installed && (await unitFaultOf(installed, '/mnt/other'))?.remedy, full);
	t.is((await install('--no-sandbox')).code, 0);
	await t.throwsAsync(stat(`${unit}.d/sandbox.conf`), { code: 'ENOENT' });

	const other = await install('--config', '/etc/stowage/config.yaml');
	t.is(other.code, 1);
	t.true(other.output.startsWith(`/etc/systemd/system/stowage.service goes by ${file}, and there is no /etc/stowage/`));
	await t.throwsAsync(stat(path.join(root, 'etc/stowage')), { code: 'ENOENT' });
	t.is(await readFile(unit, 'utf8'), text);
});

test('service install and uninstall replace and remove no unit that an administrator has written', async (t) => {
	const root = await temporaryFolder(t);
	const unit = path.join(root, 'etc/systemd/system/stowage.service');
	await mkdir(path.dirname(unit), { recursive: true });
	await writeFile(unit, '[Service]\nExecStart=/opt/stowage serve\n');
	const refused = await stowage('service', 'install', '--root', root);
	t.is(refused.code, 1);
	t.regex(refused.output, /^This command has not written \/etc\/systemd\/system\/stowage\.service: move it away/);
	const kept = await stowage('service', 'uninstall', '--root', root);
	t.is(kept.code, 1);
	t.regex(kept.output, /^This command has not written \/etc\/systemd\/system\/stowage\.service: disable and remove it/);
	t.is(await readFile(unit, 'utf8'), '[Service]\nExecStart=/opt/stowage serve\n');
});

test('service uninstall of another tree removes no file outside of it to which somebody’s link leads', async (t) => {
	const root = await temporaryFolder(t);
	const at = (...names: string[]) => path.join(root, ...names);
	for (const name of ['tree/etc/systemd', 'host']) await mkdir(at(name), { recursive: true });
	await writeFile(at('host/stowage.service'), '# Written by Stowage.\n[Service]\nExecStart=/bin/true\n');
	await symlink(at('host'), at('tree/etc/systemd/system'));
	await lchown(at('tree/etc/systemd/system'), 47_430, 47_431);
	const { code, output } = await stowage('service', 'uninstall', '--root', at('tree'));
	t.not(code, 0);
	t.regex(output, /tree\/etc\/systemd\/system is a link of user 47430, which root does not follow/);
	t.deepEqual(await readdir(at('host')), ['stowage.service']);
});

test('service install refuses a data folder that belongs to another user', async (t) => {
	const root = await temporaryFolder(t);
	await mkdir(path.join(root, 'etc/stowage'), { recursive: true });
	await mkdir(path.join(root, 'srv/other'), { recursive: true });
	await writeFile(path.join(root, 'srv/other/file'), '');
	await writeFile(path.join(root, 'etc/stowage/config.yaml'), 'dataDir: /srv/other\n');
	const refused = await stowage('service', 'install', '--root', root);
	t.is(refused.code, 1);
	t.regex(
		refused.output,
		/srv\/other does not belong to the service's user: install again once you have given it to that user: chown -R \d+:\d+ /,
	);
	t.is((await stat(path.join(root, 'srv/other'))).uid, 0);
});

test('the folder of a database that is not there yet may be the service’s when it is installed', async (t) => {
	const root = await temporaryFolder(t);
	await mkdir(path.join(root, 'etc/stowage'), { recursive: true });
	await mkdir(path.join(root, 'srv/db'), { recursive: true });
	await chown(path.join(root, 'srv/db'), 47_430, 47_431);
	await writeFile(path.join(root, 'etc/stowage/config.yaml'), 'databaseUrl: sqlite:/srv/db/stowage.db\n');
	const { code, output } = await stowage('service', 'install', '--root', root, '--dry-run');
	t.is(code, 0, output);
	t.false(output.includes('lacks'), output);
});

test('a start that takes long, as while its database is away, is not waited for without end', async (t) => {
	const step = limitedStep({ ms: 100, isLate: 'It still starts.' }, 'sleep', '60');
	await t.throwsAsync(step.run(), { message: 'It still starts.' });
});

test('service install refuses a program that the service’s user can’t read', async (t) => {
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'program.js'), '');
	await t.throwsAsync(assertReadableByAll(path.join(folder, 'program.js')), { message: /is closed to it/ });
	await chmod(folder, 0o755);
	await t.notThrowsAsync(assertReadableByAll(path.join(folder, 'program.js')));
});

const notifiesManager = async (t: ExecutionContext, address: (folder: string) => string) => {
	const folder = await temporaryFolder(t);
	const name = address(folder);
	const next = await serviceManager(t, name);
	const server = await startServer(t, {
		args: serveArgs(path.join(folder, 'data')),
		env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: '200000', WATCHDOG_PID: '' },
	});
	t.is(await next(/./), `READY=1\nSTATUS=Serving at ${server.url}`);
	t.is(await next(/./), 'WATCHDOG=1');
	t.is(await next(/./), 'WATCHDOG=1', 'the notifications are repeated');
	await server.stop();
	t.regex(await next(/STOPPING/), /^STOPPING=1\nSTATUS=/);
};
test(
	'a service manager at a unix socket with a path is notified when the server is ready, alive and stopping',
	notifiesManager,
	(folder) => path.join(folder, 'notify'),
);
test(
	'a service manager at an abstract socket is notified when the server is ready, alive and stopping',
	notifiesManager,
	(folder) => `@stowage-test/${path.basename(folder)}`,
);

/** A server that a service manager has read the configuration again. */
async function reloadingServer(t: ExecutionContext, yaml: string) {
	const folder = await temporaryFolder(t);
	const next = await serviceManager(t, path.join(folder, 'notify'));
	const config = path.join(folder, 'config.yaml');
	await writeFile(config, yaml, { mode: 0o644 });
	const server = await startServer(t, {
		args: serveArgs(path.join(folder, 'data'), '--config', config),
		env: { NOTIFY_SOCKET: path.join(folder, 'notify') },
	});
	await next(/READY/);
	const registration = async () => (await (await fetch(`${server.url}/api/capabilities`)).json()).registration;
	t.is(await registration(), 'open');
	const reload = async (text: string) => {
		await writeFile(config, text);
		process.kill(server.pid, 'SIGHUP');
		t.regex(await next(/./), /^RELOADING=1\nMONOTONIC_USEC=\d+\n/);
		return next(/./);
	};
	return { server, config, registration, reload };
}

test('a reload applies the settings that can change, names those that need a restart, and changes nothing if the file is invalid', async (t) => {
	const { server, registration, reload } = await reloadingServer(t, 'registration: open\n');
	const asked = await reload('registration: closed\nbasePath: /files\npublicListing: everyone\n');
	t.is(asked, `READY=1\nSTATUS=Serving at ${server.url}; a restart is needed for basePath, publicListing`);
	t.is(await registration(), 'closed');
	const broken = await reload('registration: perhaps\n');
	const mistake = `READY=1\nSTATUS=Serving at ${server.url}; the configuration on disk has a mistake, see the log`;
	t.is(broken, mistake);
	t.is(await registration(), 'closed');
	for (const wrong of [
		"plugins: {'@stowage/zip': {levle: 3}}",
		"plugins: {'./no-such-plugin.js': {}}",
		'databaseUrl: mysql://stowage@localhost/stowage?sokcet=/run/x',
	]) {
		t.is(await reload(`registration: open\n${wrong}\n`), mistake, wrong);
		t.is(await registration(), 'closed', 'the next start would end with it');
	}
});

test('a server that runs as root reads no configuration again that others may write by now, as it does not begin with one', async (t) => {
	t.is(process.geteuid?.(), 0, 'this test runs as root');
	const { server, config, registration, reload } = await reloadingServer(t, 'registration: open\n');
	const refused = `READY=1\nSTATUS=Serving at ${server.url}; the configuration on disk has a mistake, see the log`;
	for (const [open, close] of [
		[() => chmod(config, 0o646), () => chmod(config, 0o644)],
		[() => chown(config, 47_430, 0), () => chown(config, 0, 0)],
	] as const) {
		await open();
		t.is(await reload('registration: closed\n'), refused);
		t.is(await registration(), 'open');
		await close();
	}
	t.is(await reload('registration: closed\n'), `READY=1\nSTATUS=Serving at ${server.url}`);
	t.is(await registration(), 'closed');
});

test('a server asked to stop exits within 30 s despite stalled clients, and keeps the received bytes of an upload', async (t) => {
	const data = path.join(await temporaryFolder(t), 'data');
	const server = await startServer(t, { args: serveArgs(data) });
	await writeFile(path.join(data, 'files/Public/large.bin'), Buffer.alloc(32 * 1024 * 1024));
	const download = request(`${server.url}/api/download/large.bin`).end();
	download.on('error', () => {});
	const [answer] = (await once(download, 'response')) as [IncomingMessage];
	answer.on('error', () => {}).pause();

	const tus = { 'tus-resumable': '1.0.0' };
	const filename = Buffer.from('slow.bin').toString('base64');
	const created = await fetch(`${server.url}/api/uploads`, {
		method: 'POST',
		headers: { ...tus, 'upload-length': '100', 'upload-metadata': `filename ${filename}` },
	});
	const location = created.headers.get('location') ?? '';
	const upload = request(`${server.url}${location}`, {
		method: 'PATCH',
		headers: {
			...tus,
			'upload-offset': '0',
			'content-length': '100',
			'content-type': 'application/offset+octet-stream',
		},
	});
	upload.on('error', () => {}).write('0123456789');
	const staging = path.join(data, 'files/.stowage/staging');
	const arrived = async () => {
		const sizes = await Promise.all(
			(await readdir(staging)).map(async (name) => (await lstat(path.join(staging, name))).size),
		);
		return sizes.includes(10);
	};
	while (!(await arrived())) await wait(20);

	const began = performance.now();
	t.is(await server.stop('SIGTERM'), 0);
	t.true(performance.now() - began < 30_000);
	const again = await startServer(t, { args: serveArgs(data) });
	const head = await fetch(`${again.url}${location}`, { method: 'HEAD', headers: tus });
	t.is(head.headers.get('upload-offset'), '10');
});

test('a server starts although its service manager can’t be reached', async (t) => {
	const folder = await temporaryFolder(t);
	const server = await startServer(t, {
		args: serveArgs(path.join(folder, 'data')),
		env: { NOTIFY_SOCKET: path.join(folder, 'nobody'), WATCHDOG_USEC: '200000' },
	});
	t.is((await fetch(`${server.url}/api/ready`)).status, 200);
});

test('the watchdog is not notified while the database hangs, or while a database file fails', async (t) => {
	const hanging = () => new Promise<void>(() => {});
	const failing = () => Promise.reject(new Error('refused'));
	t.false(await createHeartbeat(hanging, false, 1)());
	t.false(await createHeartbeat(failing, true)());
	t.true(await createHeartbeat(failing, false)(), 'an unavailable database server may recover by itself');
	t.true(await createHeartbeat(async () => {}, true)());
});

test('service install is root’s also in the environment of a container', async (t) => {
	const { code, stderr } = await stowageProgram(['service', 'install', '--root', '/nowhere'], {
		env: { PUID: '1000', PGID: '1000' },
	});
	t.deepEqual({ code, stderr }, { code: 1, stderr: 'There is no folder /nowhere.' });
});
