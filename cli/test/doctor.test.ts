import { chmod, chown, mkdir, open, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { execa } from 'execa';
import { loadConfig } from '../../packages/core/src/index.js';
import { memoryStorageFlags } from '../../packages/core/test/memoryPlugin.js';
import { Client, file, testApp } from '../../packages/core/test/testApp.js';
import { openDatabase } from '../../packages/database/src/index.js';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { checkProxy } from '../src/doctor/configuration.js';
import { reasonOf } from '../src/doctor/findings.js';
import { sandboxFinding } from '../src/doctor/programs.js';
import { checkService } from '../src/doctor/service.js';
import { checkStorage } from '../src/doctor/storage.js';
import { unitText } from '../src/service/unit.js';
import { dataFolder, run } from './program.js';

const nobody = 65534;

interface Finding {
	state: string;
	what: string;
	message: string;
	remedy?: string;
}

async function doctor(...args: string[]) {
	const { code, stdout, stderr } = await run(['doctor', '--json', ...args]);
	const findings = JSON.parse(stdout) as Finding[];
	const of = (what: string) => findings.filter((finding) => finding.what === what);
	return { code, findings, of, stderr };
}

test('a sandbox that could not be tried is named as that by doctor, not as one that works or as none', (t) => {
	const unknown = { kind: 'unknown', description: 'not known yet' } as const;
	const { state, message } = sandboxFinding(unknown, unknown);
	t.is(state, 'warn');
	t.regex(message, /^could not be found out/);
});

test('doctor says in which sandbox videos are converted where the options of the plugin change that, and that there is none', async (t) => {
	const app = await testApp(t);
	const conversions = async (options: Record<string, unknown>) => {
		const plugins = JSON.stringify({ '@stowage/handbrake': options });
		const { of } = await doctor('--data-dir', app.dataDir, '--plugins', plugins);
		return of('sandbox of conversions').map(({ state, message }) => `${state} ${message}`);
	};
	t.deepEqual(await conversions({}), []);
	t.regex((await conversions({ bwrap: false })).join('\n'), /^ok Landlock/);
	const none = { bwrap: false, landlock: false };
	t.regex((await conversions(none)).join('\n'), /^warn none with the options .* so no videos are converted$/);
	const accepted = await conversions({ ...none, allowWithoutSandbox: true });
	t.regex(accepted.join('\n'), /^warn none: HandBrake runs with limits only/);
	// What works is used all the same.
	t.regex((await conversions({ allowWithoutSandbox: true })).join('\n'), /^ok /);
});

test('doctor finds no errors in a sound installation, and each warning has a remedy', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	await chmod(app.dataDir, 0o700);
	const { findings, of, code } = await doctor('--data-dir', app.dataDir);
	t.deepEqual(
		findings.filter(({ state }) => state === 'error'),
		[],
	);
	for (const what of [
		'configuration',
		'data folder',
		'key',
		'database',
		'storage root',
		'space',
		'clock',
		'ffmpeg',
		'sandbox of decoders',
		'pdftoppm',
		'sharp',
	])
		t.true(of(what).length > 0, what);
	for (const what of ['configuration', 'data folder', 'key', 'database', 'storage root', 'clock', 'sharp', 'proxy'])
		t.true(
			of(what).every(({ state }) => state === 'ok'),
			what,
		);
	for (const { state, message, remedy } of findings) if (state !== 'ok') t.truthy(remedy, message);
	t.is(code, findings.some(({ state }) => state === 'warn') ? 1 : 0);
	const { stdout } = await run(['doctor', '--data-dir', app.dataDir]);
	t.regex(stdout, /^ok\tdatabase\twhole and up to date$/m);
});

test('a server at a unix socket trusts its proxy and is reached by nobody else, as doctor and config init know', async (t) => {
	const listen = 'unix:/run/stowage/stowage.sock';
	const of = (flags: Record<string, string>) =>
		checkProxy(loadConfig({ flags: { '--listen': listen, ...flags } })).map(
			({ state, message }) => `${state} ${message}`,
		);
	const publicUrl = 'https://files.example.org';
	t.deepEqual(of({ '--public-url': publicUrl }), [`ok ${publicUrl}`]);
	t.deepEqual(of({ '--public-url': 'http://files.example.org', '--host': '0.0.0.0' }), ['ok http://files.example.org']);
	const [every = '', ...others] = of({ '--host': '0.0.0.0' });
	t.regex(every, /^warn the server listens at a unix socket, for a proxy, and publicUrl is not: .* every host name$/);
	t.deepEqual(others, []);
	t.regex(of({ '--public-url': publicUrl, '--trusted-proxies': '0.0.0.0/0' })[0] ?? '', /^error/);

	const file = path.join(await dataFolder(t), 'stowage.yaml');
	for (const address of [publicUrl, '']) {
		const words = ['config', 'init', file, '--yes', '--force', '--listen', listen, '--public-url', address];
		const { code, stdout, stderr } = await run(words);
		t.is(code, 0, stderr);
		t.regex(stdout, /by a proxy alone, at the socket \/run\/stowage\/stowage\.sock/);
		t.notRegex(stdout, /trustedProxies|0\.0\.0\.0/);
	}
});

test('doctor reports a readable key, a root without its id, a damaged database and a wrong setting, and creates nothing', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const flags = ['--data-dir', app.dataDir];
	await chmod(path.join(app.dataDir, 'session.key'), 0o644);
	await rename(path.join(app.filesDir, '.stowage/root.json'), path.join(app.filesDir, '.stowage/other.json'));
	const ill = await doctor(...flags, '--trusted-proxies', '0.0.0.0/0', '--public-url', 'https://files.example.org');
	t.is(ill.code, 2);
	t.like(ill.of('key')[0], { state: 'error', remedy: `chmod 600 ${path.join(app.dataDir, 'session.key')}` });
	t.like(ill.of('proxy')[0], { state: 'error' });
	t.deepEqual(
		ill.of('configuration').map(({ state }) => state),
		['ok'],
	);

	await chmod(path.join(app.dataDir, 'session.key'), 0o600);
	const encoder = {
		'@stowage/handbrake': { handbrake: '/nowhere/HandBrakeCLI', bwrap: false },
		'@stowage/preview': false,
	};
	const away = await doctor(
		...[...flags, '--public-url', 'https://files.example.org', '--plugins', JSON.stringify(encoder)],
	);
	t.regex(away.of('HandBrakeCLI')[0]?.message ?? '', /^\/nowhere\/HandBrakeCLI is not there/);
	t.deepEqual([...away.of('bwrap'), ...away.of('ffmpeg')], [], 'what is turned off is not asked for');
	t.like(away.of('storage root')[0], { state: 'error' });
	t.regex(away.of('storage root')[0]?.message ?? '', /not ours/);
	t.like(away.of('proxy')[0], { state: 'warn' });

	const broken = path.join(await dataFolder(t), 'stowage.db');
	await writeFile(broken, await readFile(path.join(app.dataDir, 'stowage.db')));
	const handle = await open(broken, 'r+');
	const { size } = await handle.stat();
	await handle.write(Buffer.alloc(size - 8192, 0xa5), 0, undefined, 8192);
	await handle.close();
	const damaged = await doctor(...flags, '--database-url', `sqlite:${broken}`);
	t.is(damaged.code, 2);
	t.true(
		damaged.of('database').some(({ state }) => state === 'error'),
		JSON.stringify(damaged.of('database')),
	);

	const mistaken = await doctor('--port', 'eighty');
	t.like(mistaken, { code: 2 });
	t.regex(mistaken.findings[0]?.message ?? '', /eighty/);
	const nowhere = path.join(await dataFolder(t), 'new');
	const empty = await doctor('--data-dir', nowhere);
	t.is(empty.code, 1);
	await t.throwsAsync(stat(nowhere), { code: 'ENOENT' }, 'doctor creates no folder');
});

test('a wrong data folder, database or storage root is reported with a sentence and no stack', async (t) => {
	const folder = await dataFolder(t);
	const at = (name: string) => path.join(folder, name);
	await writeFile(at('file'), 'x'.repeat(5000));
	await mkdir(at('folder'));
	const noFolder = ['--data-dir', at('file')];
	const noDatabase = ['--data-dir', at('data'), '--database-url', `sqlite:${at('file')}`];
	const folderAsDatabase = ['--data-dir', at('data'), '--database-url', `sqlite:${at('folder')}`];
	const root = JSON.stringify({ '@stowage/storage-local': { root: at('file') } });
	const noRoot = ['--data-dir', at('data'), '--plugins', root];
	for (const [words, flags, code, message] of [
		[['user', 'list'], noFolder, 78, /^The data folder \S+ can't be used/],
		[['audit'], noFolder, 0, /^$/],
		[['migrate'], noFolder, 78, /^There is no database/],
		[['user', 'list'], noDatabase, 78, /^The database is damaged, or is no database/],
		[['migrate'], noDatabase, 78, /^The database is damaged, or is no database/],
		[['database', 'copy', '--to', `sqlite:${at('to')}`], noDatabase, 78, /^The database is damaged, or is no database/],
		[['migrate'], folderAsDatabase, 78, /^The database is no file/],
		[['user', 'list'], noRoot, 0, /^Warning: the storage root could not be opened \(root: local\): .* it is no folder/],
	] as const) {
		const ended = await run([...words, ...flags]);
		t.is(ended.code, code, words.join(' '));
		t.regex(ended.stderr, message);
		t.notRegex(ended.stderr, /\n\s+at /);
	}
	t.regex((await doctor(...noFolder)).of('data folder')[0]?.message ?? '', /is no folder$/);
	const damaged = (await doctor(...noDatabase)).of('database')[0];
	t.is(damaged?.state, 'error');
	t.regex(damaged?.remedy ?? '', /leave the files where they are.*docs\/restore.md, "Only the database is damaged"/);
	t.regex((await doctor(...noRoot)).of('storage root')[0]?.message ?? '', /it is no folder/);
});

test('a storage root whose free space is unknown is sound', async (t) => {
	const storage = await memoryStorageFlags(t);
	const app = await testApp(t, storage);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error', ...Object.entries(storage).flat()];
	const { of } = await doctor(...flags);
	t.deepEqual(
		of('storage root').map(({ state }) => state),
		['ok'],
	);
	t.like(of('space')[0], { state: 'ok', message: 'memory: free space unknown, its storage can’t tell' });
	for (const word of ['list', 'check']) {
		const { code, stdout } = await run(['root', word, ...flags]);
		t.is(code, 0, word);
		t.regex(stdout, /\tdefault\tok\tunknown\tmemory/, word);
	}
});

test('doctor names what was removed and can’t be', async (t) => {
	const app = await testApp(t);
	const config = loadConfig({ flags: { '--data-dir': app.dataDir }, defaultPlugins });
	const folder = path.join(app.filesDir, '.stowage/trash-in-progress', 'a'.repeat(32));
	await mkdir(folder);
	await writeFile(path.join(folder, 'film.mp4'), 'x');
	const isRoot = process.getuid?.() === 0;
	const protect = async (kept: boolean) =>
		isRoot ? execa('chattr', [kept ? '+i' : '-i', folder]) : chmod(folder, kept ? 0o500 : 0o700);
	try {
		await protect(true);
	} catch {
		t.log('no folder can be made immutable here');
		t.pass();
		return;
	}
	t.teardown(() => protect(false).catch(() => {}));
	const leftovers = async (now: number) =>
		(await checkStorage(config, now)).filter(({ what }) => what === 'leftovers').map(({ message }) => message);
	t.deepEqual(await leftovers(Date.now()), [], 'it may be on its way');
	const later = Date.now() + 2 * 60 * 60_000;
	t.deepEqual(await leftovers(later), [`local: ${folder} can’t be removed, and takes room`]);
	await protect(false);
	await rm(folder, { recursive: true });
	t.deepEqual(await leftovers(later), []);
});

test('doctor names what lies in the trash and says of nobody that it was theirs', async (t) => {
	const app = await testApp(t);
	const config = loadConfig({ flags: { '--data-dir': app.dataDir }, defaultPlugins });
	const folder = path.join(app.filesDir, '.stowage/trash/arriving');
	const found = async () => (await checkStorage(config)).filter(({ what }) => what === 'trash');
	t.deepEqual(await found(), []);
	await mkdir(folder, { recursive: true });
	await writeFile(path.join(folder, 'film.mp4'), 'x');
	const [{ message, remedy } = {}] = await found();
	t.is(message, 'the trash of local has something of nobody that no list shows: "film.mp4"');
	t.regex(remedy ?? '', /^Look at \.stowage\/trash\/arriving in that root/);
});

test('doctor checks each storage root, and whether the installed service may write to it', async (t) => {
	const app = await testApp(t);
	const disks = await dataFolder(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	for (const name of ['near', 'far', 'other']) {
		t.like(await run(['root', 'add', name, path.join(disks, name), ...flags]), { code: 0 });
	}
	await rename(path.join(disks, 'far'), path.join(disks, 'unplugged'));
	await mkdir(path.join(disks, 'far'));
	await rm(path.join(disks, 'other/.stowage'), { recursive: true });
	await rename(path.join(disks, 'unplugged/.stowage'), path.join(disks, 'other/.stowage'));
	const { of, code } = await doctor(...flags);
	t.is(code, 2);
	t.deepEqual(
		of('storage root').map(({ state, message }) => [state, message.split(' ')[0]]),
		[
			['ok', 'local:'],
			['ok', 'near'],
			['error', 'far'],
			['error', 'other'],
		],
	);
	t.regex(of('storage root')[2]?.remedy ?? '', new RegExp(`^Mount .* ${path.join(disks, 'far')} `));
	t.is(of('space').length, 2);

	const system = await dataFolder(t);
	const config = loadConfig({ flags: { '--data-dir': app.dataDir }, defaultPlugins });
	t.deepEqual(await checkService(config, system), [], 'none is installed');
	await mkdir(path.join(system, 'etc/systemd/system'), { recursive: true });
	const roots = ['near', 'far', 'other'].map((name) => path.join(disks, name));
	const install = (user: string, storageRoots: string[]) => {
		const files = { node: process.execPath, program: '/usr/stowage.js', config: '/etc/stowage/config.yaml' };
		const text = unitText({ ...files, user, dataDir: app.dataDir, storageRoots });
		return writeFile(path.join(system, 'etc/systemd/system/stowage.service'), text);
	};
	await install('nobody', roots.slice(0, 2));
	const found = await checkService(config, system);
	t.like(found[0], { state: 'error', remedy: 'sudo stowage service install --user nobody' });
	t.regex(found[0]?.message ?? '', new RegExp(`does not let the service write to ${roots[2]}$`));
	// The folder belongs to root, who runs the tests.
	t.like(found[1], { state: 'error', remedy: `sudo chown -R nobody: ${app.dataDir}` });
	await install('nobody-of-this-name', roots);
	t.regex((await checkService(config, system))[0]?.message ?? '', /names a user that does not exist/);

	await install('nobody', roots);
	// As the owner of the data folder may have written it into the database.
	const database = await openDatabase(config.databaseUrl);
	await database.roots.add({ name: 'hostile', rootId: '1'.repeat(32), driver: 'local', location: '/etc' });
	await database.close();
	const remedyOf = async (folder: string) =>
		(await checkService(config, system)).find(({ message }) => message.startsWith(`${folder} does not belong`))?.remedy;
	const without = 'If that is a storage root, give it to nobody, with all that is in it.';
	t.is(await remedyOf('/etc'), without);

	// In a folder such as /tmp each account may make one of the name by which a storage root is known.
	const open = path.join(disks, 'near');
	const marker = path.join(open, '.stowage');
	await chmod(open, 0o1777);
	await chown(marker, nobody, nobody);
	t.is(await remedyOf(open), without);
	await chown(marker, 0, 0);
	await chmod(open, 0o755);
	t.is(await remedyOf(open), `sudo chown -R nobody: ${open}`);
	// Who owns a folder above it can put a link in the place of that one.
	await chown(disks, nobody, nobody);
	t.is(await remedyOf(open), without);
});

test('doctor names storage roots, homes and files of the database that other accounts can open, with what closes each', async (t) => {
	const app = await testApp(t);
	for (const name of ['ada', 'bob']) await new Client(app).register(name);
	const disks = await dataFolder(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const at = (name: string) => path.join(app.dataDir, name);
	t.like(await run(['root', 'add', 'big', path.join(disks, 'a disk'), ...flags]), { code: 0 });
	await chmod(path.join(disks, 'a disk'), 0o755);
	for (const name of ['files', 'files/users', 'files/users/ada']) await chmod(at(name), 0o755);
	for (const name of ['anonymous', 'bob']) await chmod(at(`files/users/${name}`), 0o750);
	await chmod(at('stowage.db'), 0o640);
	const access = async () => (await doctor(...flags)).of('access');
	// Nobody gets past the folders above them.
	await chmod(app.dataDir, 0o750);
	t.deepEqual(
		(await access()).map(({ state }) => state),
		['ok'],
	);
	for (const folder of [app.dataDir, disks]) await chmod(folder, 0o755);
	await chmod(at('stowage.db-wal'), 0o644);
	t.deepEqual(await access(), [
		...[
			['the storage root', at('files')],
			['the home', at('files/users/ada')],
		].map(([kind, place]) => ({
			state: 'warn',
			what: 'access',
			message: `other accounts of this machine can open ${kind} ${place} (mode 755)`,
			remedy: `chmod o= ${place}`,
		})),
		{
			state: 'warn',
			what: 'access',
			message: `other accounts of this machine can open the storage root ${disks}/a disk (mode 755)`,
			remedy: `chmod o= '${disks}/a disk'`,
		},
	]);
	t.like((await doctor(...flags)).of('data folder')[0], { state: 'warn', remedy: `chmod 750 ${app.dataDir}` });
	for (const place of ['files', 'files/users/ada']) await chmod(at(place), 0o750);
	await chmod(path.join(disks, 'a disk'), 0o750);
	t.deepEqual(
		(await access()).map(({ state }) => state),
		['ok'],
	);
});

test('doctor checks a database server and its clock', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	const url = await mariadb.createDatabase();
	await testApp(t, { '--database-url': url });
	const { of } = await doctor('--database-url', url, '--data-dir', await dataFolder(t));
	t.deepEqual(
		of('database').map(({ state }) => state),
		['ok'],
	);
	t.true(of('clock').some(({ message, state }) => state === 'ok' && message.includes('the database')));
	await mariadb.stop();
	t.like((await doctor('--database-url', url)).of('database')[0], { state: 'error' });
});

test('doctor points to config init while the configuration only says where the data are', async (t) => {
	const dataDir = await dataFolder(t);
	const file = path.join(dataDir, 'config.yaml');
	await writeFile(file, `# As it was installed.\ndataDir: ${dataDir}\n`);
	t.like((await doctor('--config', file)).of('first steps')[0], { state: 'warn', remedy: 'sudo stowage config init' });
	t.is((await run(['config', 'init', file, '--yes'])).code, 0);
	t.deepEqual((await doctor('--config', file)).of('first steps'), []);
});

test('doctor says what strangers may do, and warns of it on a server with a public https address', async (t) => {
	const dataDir = await dataFolder(t);
	const flags = ['--data-dir', dataDir, '--public-url', 'https://files.example.org'];
	const { of } = await doctor(...flags);
	t.like(of('strangers')[0], {
		state: 'warn',
		message:
			'everybody who finds files.example.org may upload files (visitors: upload) and make accounts (registration: open)',
	});
	t.regex((await doctor(...flags, '--visitors', 'read')).of('strangers')[0]?.message ?? '', /may make accounts/);
	const closed = await doctor(...flags, '--visitors', 'read', '--registration', 'closed');
	t.like(closed.of('strangers')[0], {
		state: 'ok',
		message:
			'people without an account may browse and download in the public area, and upload nothing; nobody may sign up, you make the accounts (visitors: read, registration: closed)',
	});
	const off = await doctor('--data-dir', dataDir, '--visitors', 'off');
	t.like(off.of('strangers')[0], {
		state: 'ok',
		message:
			'people without an account may use temporary links, and nothing else; everybody may sign up (visitors: off, registration: open)',
	});
	t.like((await doctor('--data-dir', dataDir)).of('strangers')[0], { state: 'ok' }, 'at home everybody may');
});

test('while the disk of a root is not mounted, doctor says to mount it first where nothing tells its mount point, and no unit names a folder below it', async (t) => {
	const app = await testApp(t);
	const disks = await dataFolder(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const folder = path.join(disks, 'disk/stowage');
	await mkdir(path.join(disks, 'disk'));
	t.like(await run(['root', 'add', 'big', folder, ...flags]), { code: 0 });
	await rename(folder, path.join(disks, 'unplugged'));
	const system = await dataFolder(t);
	await mkdir(path.join(system, 'etc/systemd/system'), { recursive: true });
	const files = { node: process.execPath, program: '/usr/stowage.js', config: '/etc/stowage/config.yaml' };
	const text = unitText({ ...files, user: 'nobody', dataDir: app.dataDir, storageRoots: [] });
	const config = loadConfig({ flags: { '--data-dir': app.dataDir }, defaultPlugins });
	for (const each of [text, text.replace('# Written by Stowage.', '')]) {
		await writeFile(path.join(system, 'etc/systemd/system/stowage.service'), each);
		const [found] = await checkService(config, system);
		t.regex(found?.remedy ?? '', new RegExp(`^Mount the disk of ${folder} first`));
		t.notRegex(found?.remedy ?? '', /ReadWritePaths|service install/);
	}
	const settings = path.join(disks, 'config.yaml');
	await writeFile(settings, `dataDir: ${app.dataDir}\n`);
	const print = () => run(['service', 'print', '--config', settings]);
	const without = await print();
	t.false(without.stdout.includes(path.join(disks, 'disk')));
	t.true(without.stderr.startsWith(`The unit lacks the storage root ${folder}, since its disk is not mounted`));
	await rename(path.join(disks, 'unplugged'), folder);
	t.true((await print()).stdout.includes(`ReadWritePaths=-${folder}\n`));
});

test('doctor names public purge for a full disk only where visitors have files', async (t) => {
	const app = await testApp(t, { '--uploads-free-space-reserve': '0' });
	const disk = path.join(await dataFolder(t), 'disk');
	await mkdir(disk);
	const program = (name: string, ...args: string[]) => execa(name, args);
	await program('mount', '-t', 'tmpfs', '-o', 'size=4m,mode=755', 'none', disk);
	t.teardown(() => program('umount', '-l', disk));
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	t.like(await run(['root', 'add', 'small', path.join(disk, 'stowage'), ...flags]), { code: 0 });
	t.like(await run(['root', 'set-default', 'small', ...flags]), { code: 0 });
	await app.services.roots.reload();
	const remedy = async () =>
		(await doctor(...flags)).of('space').find(({ message }) => message.startsWith('small:'))?.remedy;
	t.is(await remedy(), undefined);
	await writeFile(path.join(disk, 'filler'), Buffer.alloc(4_000_000));
	t.is(await remedy(), 'Make room: quotas, or a larger disk.');
	await rm(path.join(disk, 'filler'));
	t.is((await new Client(app).upload('/api/upload/public', [file('visitor.txt', 'v')])).statusCode, 200);
	await writeFile(path.join(disk, 'filler'), Buffer.alloc(4_000_000));
	t.is(await remedy(), 'Make room: stowage public purge --permanent, quotas, or a larger disk.');
});

test('doctor shows whole sentences, wrapped in their columns on a terminal', async (t) => {
	const app = await testApp(t);
	const args = ['doctor', '--data-dir', app.dataDir, '--host', '0.0.0.0'];
	const piped = await run(args);
	const [warning = ''] = /^warn\tproxy\t.*$/m.exec(piped.stdout) ?? [];
	const [, , message = '', remedy = ''] = warning.split('\t');
	t.regex(remedy, /config\/proxies\/\.$/);
	const { stdout } = await run(args, '', { columns: 80 });
	const lines = stdout.split('\n');
	t.regex(lines[0] ?? '', /^STATE {2}WHAT +MESSAGE +REMEDY$/);
	for (const line of lines) t.true(line.length <= 80, line);
	const at = { message: lines[0]?.indexOf('MESSAGE') ?? 0, remedy: lines[0]?.indexOf('REMEDY') ?? 0 };
	const first = lines.findIndex((line) => /^warn +proxy/.test(line));
	const shown = lines.slice(
		first,
		1 + lines.findIndex((_, index) => index > first && !lines[index + 1]?.startsWith(' ')),
	);
	const column = (from: number, to?: number) =>
		shown
			.map((line) => line.slice(from, to).trim())
			.filter((part) => part !== '')
			.join(' ');
	t.is(column(at.message, at.remedy), message);
	t.is(column(at.remedy), remedy);
	t.is(
		reasonOf(new Error('Command failed: bwrap\nbwrap: no namespaces\n')),
		'Command failed: bwrap bwrap: no namespaces',
	);
});

test('doctor does not say that the service may write to a folder that it could not examine', async (t) => {
	const system = await dataFolder(t);
	const dataDir = path.join(system, 'data');
	await mkdir(path.join(system, 'etc/systemd/system'), { recursive: true });
	const files = { node: process.execPath, program: '/usr/stowage.js', config: '/etc/stowage/config.yaml' };
	const text = unitText({ ...files, user: 'nobody', dataDir, storageRoots: [] });
	await writeFile(path.join(system, 'etc/systemd/system/stowage.service'), text);
	const config = loadConfig({ flags: { '--data-dir': dataDir }, defaultPlugins });
	t.deepEqual(
		(await checkService(config, system)).map(({ state }) => state),
		['ok'],
		'one that is missing is reported elsewhere',
	);
	await symlink(dataDir, dataDir);
	const found = await checkService(config, system);
	t.true(found.some(({ state, message }) => state === 'warn' && message.includes('ELOOP')));
	t.false(found.some(({ state }) => state === 'ok'));
});
