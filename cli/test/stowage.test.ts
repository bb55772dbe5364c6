import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import { parse } from 'yaml';
import { createApp, loadConfig } from '../../packages/core/src/index.js';
import { logLines } from '../../packages/core/test/logLines.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { explain } from '../src/terminal/explain.js';
import { dataFolder, onTerminal, run, stowage } from './program.js';

test('accounts are added, listed, disabled, enabled and removed, with the password from standard input', async (t) => {
	const data = await dataFolder(t);
	const user = (args: string[], input?: string | Buffer) =>
		run(['user', ...args, '--data-dir', data, '--log-level', 'error'], input);
	t.like(await user(['add', 'ada'], 'correct horse\n'), { code: 0, stdout: 'Added ada.' });
	t.like(await user(['add', 'ADA'], 'correct horse\n'), { code: 1, stderr: 'This user name is already taken.' });
	t.like(await user(['add', 'bob'], 'short\n'), { code: 1, stderr: 'A password has 8 to 256 characters.' });
	t.regex((await user(['list'])).stdout, /^ada\tenabled\t\d{4}-/);
	t.like(await user(['disable', 'ada']), { code: 0, stdout: 'Disabled ada.' });
	t.regex((await user(['list'])).stdout, /^ada\tdisabled/);
	t.like(await user(['enable', 'ada']), { code: 0 });
	t.like(await user(['passwd', 'ada'], Buffer.from('pa\xdfwort ja', 'latin1')), {
		code: 1,
		stderr: 'The password is not UTF-8.',
	});
	t.like(await user(['passwd', 'ada'], 'another horse\n'), { code: 0, stdout: 'Changed the password of ada.' });
	t.like(await user(['passwd', 'nobody'], 'another horse\n'), { code: 1, stderr: 'There is no user nobody.' });
	t.is((await user(['quota', 'ada'])).stdout, 'bytes\t0\tno limit\tdefault\nentries\t1\tno limit\tdefault');
	t.is(
		(await user(['quota', 'ada', '--bytes', '10GB', '--entries', '100000'])).stdout,
		'bytes\t0\t10737418240\tadministrator\nentries\t1\t100000\tadministrator',
	);
	t.is(
		(await user(['quota', 'ada', '--bytes', '0'])).stdout,
		'bytes\t0\tno limit\tadministrator\nentries\t1\t100000\tadministrator',
		'a limit that is not named is kept',
	);
	t.regex((await user(['quota', 'ada', '--default'])).stdout, /\tdefault\n.*\tdefault$/);
	t.is(
		(await user(['quota', 'ada', '--none'])).stdout,
		'bytes\t0\tno limit\tadministrator\nentries\t1\tno limit\tadministrator',
	);
	t.like(await user(['quota', 'ada', '--bytes', 'much']), {
		code: 1,
		stderr: "--bytes: must be a size such as 0, '500 MB' or 10GB, not much",
	});
	t.like(await user(['quota', 'ada', '--entries', '-1']), {
		code: 1,
		stderr: '--entries: must be a whole number, not -1',
	});
	t.like(await user(['quota', 'ada', '--bytes', '1', '--default']), {
		code: 1,
		stderr: 'Give --bytes and --entries, or --none, or --default.',
	});
	t.is(
		(await user(['quota', 'ada'])).stdout,
		'bytes\t0\tno limit\tadministrator\nentries\t1\tno limit\tadministrator',
		'a refused command changes nothing',
	);
	t.like(await user(['quota', 'nobody']), { code: 1, stderr: 'There is no user nobody.' });
	t.like(await user(['remove', 'ada']), { code: 0 });
	t.is((await user(['list'])).stdout, '');
	t.like(await user(['add', 'ada'], 'correct horse\n'), { code: 1 }, 'her files are still there');
	t.like(await user(['add', 'ada', '--adopt-home'], 'correct horse\n'), { code: 0, stdout: 'Added ada.' });
});

test('a password is asked for twice at a terminal, and never shown', async (t) => {
	const data = ['--data-dir', await dataFolder(t), '--log-level', 'error'];
	const added = await onTerminal(['user', 'add', 'ada', ...data], ['correct horse\r', 'correct horse\r']);
	t.is(added.code, 0, added.shown);
	t.regex(added.shown, /^Password: \s+Again: \s+Added ada\.\s*$/);
	const differs = await onTerminal(['user', 'add', 'bob', ...data], ['correct horse\r', 'another horse\r']);
	t.is(differs.code, 1);
	t.regex(differs.shown, /^Password: \s+Again: \s+Passwords do not match\s*$/);
	const cancelled = await onTerminal(['user', 'add', 'bob', ...data], ['correct\u0003']);
	t.is(cancelled.code, 1);
	t.regex(cancelled.shown, /^Password: \s+Cancelled\.\s*$/);
});

test('temporary links are added, listed, revoked and purged', async (t) => {
	const data = await dataFolder(t);
	const flags = ['--data-dir', data, '--log-level', 'error'];
	// Through a pipe, as scripts do it.
	await stowage(['user', 'add', 'ada', ...flags], { input: 'correct horse\n' });
	await writeFile(path.join(data, 'files/users/ada/fox & friends.txt'), 'fox');
	const link = (...args: string[]) => run(['link', ...args, ...flags]);
	t.regex((await link('add', 'Ada', 'fox & friends.txt')).stdout, /^\/api\/temp\/[\w-]{43}$/);
	const week = ['add', 'ada', 'fox & friends.txt', '--expires', '1w', '--public-url', 'https://files.example'];
	t.regex((await link(...week)).stdout, /^https:\/\/files\.example\/api\/temp\/[\w-]{43}$/);
	t.like(await link('add', 'ada', 'Public'), { code: 1, stderr: 'Temporary links are for private files' });
	t.regex((await link('add', 'ada', 'fox & friends.txt', '--expires', '2w')).stderr, /1h, 12h, 1d, 1w/);
	const listed = (await link('list', 'ada')).stdout.split('\n').map((line) => line.split('\t'));
	t.deepEqual(
		listed.map(([, user, state, , downloads, name]) => [user, state, downloads, name]),
		Array(2).fill(['ada', 'good', '0', 'fox & friends.txt']),
	);
	const [[id = '', , , expiresAt = ''] = []] = listed;
	t.true(Date.parse(expiresAt) > Date.now() + 6 * 24 * 60 * 60_000, 'the newest first');
	t.like(await link('revoke', id), { code: 0, stdout: 'Revoked.' });
	t.like(await link('revoke', id), { code: 1, stderr: 'There is no such temporary link.' });
	await rm(path.join(data, 'files/users/ada/fox & friends.txt'));
	t.regex((await link('list')).stdout, /\tgone\t/);
	t.like(await link('purge'), { stdout: 'Forgot 1 link.' });
});

test('config print prints the effective configuration as YAML without its secrets', async (t) => {
	const printed = await stowage(['config', 'print', '--database-url', 'mysql://me:sec@ret@db/stowage'], {
		env: { STOWAGE_PORT: '8080', STOWAGE_SESSION_KEY: 'k'.repeat(40) },
	});
	t.is(printed.code, 0);
	t.regex(printed.stdout, /^port: 8080$/m);
	t.regex(printed.stdout, /mysql:\/\/me:\*\*\*@db\/stowage/);
	t.notRegex(printed.stdout, /sec@|ret@|kkkk/);
});

test('a password in the query of the database’s address is shown by no command, and refused without it', async (t) => {
	const folder = await dataFolder(t);
	const url = 'mysql://me@127.0.0.1:1/stowage?p%61ssword=hunter2&socket=/nowhere';
	const flags = ['--data-dir', folder, '--database-url', url];
	t.regex((await run(['config', 'print', ...flags])).stdout, /p%61ssword=\*\*\*&socket=\/nowhere/);
	const misspelt = [`--databse-url=${url}`, 'mysql://me:hunter2@db/x'];
	const commands = [
		['config', 'print'],
		['config', 'check'],
		['doctor'],
		['doctor', '--json'],
		['user', 'list'],
		['migrate'],
		['serve'],
	];
	for (const words of commands) {
		for (const each of [flags, ['--data-dir', folder, ...misspelt]]) {
			const { stdout, stderr } = await run([...words, ...each]);
			t.notRegex(stdout + stderr, /hunter2/, words.join(' '));
		}
	}
	const written = await run(['config', 'init', path.join(folder, 'stowage.yaml'), '--yes', ...flags]);
	t.notRegex(written.stdout + written.stderr, /hunter2/);
	const copied = await run(['database', 'copy', '--to', url, '--data-dir', folder]);
	t.notRegex(copied.stdout + copied.stderr, /hunter2/);
	// Its stack is shown for an error that nobody has foreseen.
	const mariadb = await run([
		'user',
		'list',
		'--data-dir',
		folder,
		'--database-url',
		'mysql://me:hunter2@127.0.0.1:1/stowage',
	]);
	t.not(mariadb.code, 0);
	t.notRegex(mariadb.stderr, /hunter2/);
});

test('the output of config print is a valid configuration file with the same values', async (t) => {
	const file = path.join(await dataFolder(t), 'stowage.yaml');
	const flags = [
		'--uploads-expire-after',
		'90 minutes',
		'--uploads-max-file-size',
		'2 GB',
		'--drain-delay',
		'5 seconds',
	];
	flags.push('--versions-keep-for', '24 hours');
	const printed = await run(['config', 'print', '--trusted-proxies', '10.0.0.0/8', ...flags]);
	t.regex(printed.stdout, /expireAfter: 90 minutes/);
	t.deepEqual(printed.stdout.match(/(keepFor|drainDelay|maxLifetime|checkEvery): .*/g), [
		...['drainDelay: 5 seconds', 'keepFor: 30 days', 'keepFor: 1 day', 'maxLifetime: 0'],
		...['checkEvery: 1 hour', 'keepFor: 90 days'],
	]);
	await writeFile(file, printed.stdout);
	const again = await run(['config', 'print', '--config', file]);
	t.deepEqual(parse(again.stdout), parse(printed.stdout));
});

test('config print includes plugins that are turned off, and hides likely secrets in plugin options', async (t) => {
	const plugins = {
		'@stowage/auth-password': false,
		'stowage-storage-s3': {
			bucket: 'files',
			secretAccessKey: 'hush-1',
			nested: [{ password: 'hush-2', token: 3 }],
			endpoint: 'https://me:hush-3@store.example.org/',
		},
	};
	const printed = await run(['config', 'print', '--plugins', JSON.stringify(plugins)]);
	t.is(printed.code, 0, printed.stderr);
	t.regex(printed.stdout, /"@stowage\/auth-password": false/);
	t.regex(printed.stdout, /"@stowage\/storage-local": \{\}/);
	t.regex(printed.stdout, /bucket: files/);
	t.regex(printed.stdout, /https:\/\/me:\*\*\*@store/);
	t.notRegex(printed.stdout, /hush|token: 3/);
});

const refusesConfiguration = async (
	t: ExecutionContext,
	args: string[],
	yaml: string | undefined,
	...expected: RegExp[]
) => {
	const file = path.join(await dataFolder(t), 'stowage.yaml');
	if (yaml !== undefined) await writeFile(file, yaml);
	const result = await run([...args, ...(yaml === undefined ? [] : ['--config', file])]);
	t.is(result.code, 78);
	for (const part of expected) t.regex(result.stderr, part);
	t.notRegex(result.stderr, /\n\s+at /, 'no stack');
};
test(
	'a wrong value is refused with its name, the value and the allowed values',
	refusesConfiguration,
	['config', 'check'],
	'port: eighty\n',
	/port/,
	/"eighty"/,
	/whole number/,
);
test(
	'an unknown setting is refused with its name',
	refusesConfiguration,
	['config', 'check'],
	'prot: 80\n',
	/There is no setting prot \(80\)/,
	/Did you mean port\?$/,
);
test(
	'an empty host is refused',
	refusesConfiguration,
	['config', 'check'],
	'host: ""\n',
	/host.*"".*must not be empty/,
);
test(
	'a group of settings that is no map is refused',
	refusesConfiguration,
	['config', 'check'],
	'uploads: 5\n',
	/uploads.*5.*must be a map of settings/,
);
test(
	'a list that holds itself is refused',
	refusesConfiguration,
	['config', 'check'],
	'host: &host [*host]\n',
	/host.*holds itself/,
);
test(
	'serve refuses a wrong value, too',
	refusesConfiguration,
	['serve', '--registration', 'maybe'],
	undefined,
	/registration/,
	/open, closed/,
);

test(
	'a plugin that can’t be found is refused',
	refusesConfiguration,
	['config', 'check'],
	'plugins:\n  stowage-nowhere: {}\n',
	/stowage-nowhere/,
);
test(
	'a wrong option of a plugin is refused',
	refusesConfiguration,
	['config', 'check'],
	'plugins:\n  "@stowage/auth-password": {rounds: 3}\n',
	/auth-password.*rounds/,
);
test(
	'a database URL without a user is refused',
	refusesConfiguration,
	['config', 'check'],
	'databaseUrl: mysql://db/stowage\n',
	/database URL needs a user/,
);
test(
	'a proxy that is no address is refused',
	refusesConfiguration,
	['config', 'check'],
	'trustedProxies: [nginx]\n',
	/trustedProxies/,
	/"nginx"/,
);

test('a variable that Kubernetes sets for a service causes a warning and is not refused', async (t) => {
	const checked = await stowage(['config', 'check'], { env: { STOWAGE_PORT: 'tcp://10.0.0.7:7420' } });
	t.is(checked.code, 0);
	t.is(checked.stdout, 'The configuration is valid.');
	t.regex(checked.stderr, /STOWAGE_PORT.*Kubernetes/);
});

test('config check accepts a valid configuration', async (t) => {
	t.like(await run(['config', 'check']), { code: 0, stdout: 'The configuration is valid.' });
});

test('config check and doctor name a first root that would serve files of the server', async (t) => {
	const data = await dataFolder(t);
	const plugins = JSON.stringify({ '@stowage/storage-local': { root: './audit' } });
	const reason = /root: \S+ can't be the first storage root, for it lies in the audit log/;
	const flags = ['--data-dir', data, '--plugins', plugins];
	const checked = await run(['config', 'check', ...flags]);
	t.is(checked.code, 78, checked.stdout);
	t.regex(checked.stderr, reason);
	const doctor = await stowage(['doctor', ...flags]);
	t.is(doctor.code, 2);
	t.regex(doctor.stdout, reason);
});

test('a database file that is no database stops the start with one sentence', async (t) => {
	const data = await dataFolder(t);
	await writeFile(path.join(data, 'stowage.db'), 'this is not a database, however long it may be'.repeat(200), {
		mode: 0o600,
	});
	const result = await stowage(['serve', '--port', '0', '--data-dir', data]);
	t.is(result.code, 78);
	t.is(result.stderr.trim().split('\n').length, 1, result.stderr);
});

const refusesPath = async (t: ExecutionContext, flag: string, value: string) => {
	const args = ['user', 'list', '--data-dir', await dataFolder(t), flag, value];
	const result = await run(args);
	t.is(result.code, 78, result.stderr);
	t.is(result.stderr.trim().split('\n').length, 1, result.stderr);
	t.regex(result.stderr, /\/proc\/nowhere|\/etc\/hostname/);
};
test(
	'a data folder that can’t be created is refused with one sentence',
	refusesPath,
	'--data-dir',
	'/proc/nowhere/data',
);
test('a data folder below a file is refused with one sentence', refusesPath, '--data-dir', '/etc/hostname/data');
test(
	'a database in a folder that can’t be created is refused with one sentence',
	refusesPath,
	'--database-url',
	'sqlite:/proc/nowhere/x.db',
);

test('an address that is in use, not of this machine or unknown stops the start with one sentence', async (t) => {
	const { createServer } = await import('node:net');
	const other = createServer().listen(0, '127.0.0.1');
	t.teardown(() => new Promise<void>((resolve) => other.close(() => resolve())));
	await new Promise((resolve) => other.once('listening', resolve));
	const { port } = other.address() as { port: number };
	const result = await stowage([
		'serve',
		'--port',
		String(port),
		'--data-dir',
		await dataFolder(t),
		'--log-level',
		'error',
	]);
	t.is(result.code, 1);
	t.regex(result.stderr, new RegExp(`127\\.0\\.0\\.1:${port} is already in use`));
	t.notRegex(result.stderr, /\n\s+at /);
	const refusalOf = async (host: string) => {
		const flags = { '--data-dir': await dataFolder(t), '--host': host, '--port': '0' };
		const app = await createApp(loadConfig({ flags, defaultPlugins }), { log: logLines().log });
		t.teardown(() => app.stop());
		return explain(await t.throwsAsync(app.start()));
	};
	t.deepEqual(await refusalOf('192.0.2.1'), {
		message: "The address 192.0.2.1 can't be used (EADDRNOTAVAIL).",
		code: 1,
	});
	const unknown = await refusalOf('nowhere.invalid');
	t.regex(String(unknown.message), /^The address nowhere\.invalid is not known \(E[A-Z_]+\)\.$/);
	t.is(unknown.code, 1);
});

test('what the system refuses is one sentence with the path and what to do, and anything unexpected keeps its stack', (t) => {
	const messageOf = (code: string, more: object = {}) => {
		const error = Object.assign(new Error(`${code}: a text of the system`), { code, syscall: 'open', ...more });
		const { message, code: exit } = explain(error);
		t.is(exit, 1);
		return message;
	};
	const path = '/var/lib/stowage/a';
	t.is(
		messageOf('EACCES', { path }),
		`/var/lib/stowage/a can't be used (EACCES): this runs as user ${process.geteuid?.()}. Run it as the owner of the file, or give the file to this user (chown -h).`,
	);
	t.regex(String(messageOf('EPERM', { path, dest: '/b' })), /^\/var\/lib\/stowage\/a, \/b can't be used \(EPERM\): /);
	for (const [code, message] of [
		['EROFS', /mounted read-only/],
		['ENOSPC', /Make room/],
		['EDQUOT', /Make room/],
		['EIO', /damaged/],
		['ESTALE', /is away/],
		['EMFILE', /ulimit -n/],
		['ENOTDIR', /is none/],
		['EISDIR', /is a folder/],
		['ELOOP', /circle/],
		['ENAMETOOLONG', /too long/],
	] as const)
		t.regex(String(messageOf(code, { path })), message);
	t.regex(String(messageOf('ENOSPC')), /^A file can't be used/);
	t.regex(String(messageOf('EACCES', { path: '/proc/self/fd/37/root.json' })), /^root\.json can't be used/);
	for (const error of [new TypeError('a bug'), Object.assign(new Error('a bug'), { code: 'EACCES' })])
		t.is(explain(error).message, error);
});

test('npx runs the built program', async (t) => {
	const result = await execa('npx', ['--no-install', 'stowage', '--version'], { reject: false });
	t.regex(result.stdout, /^\d+\.\d+\.\d+$/, result.stderr);
});

test('jobs are listed and cancelled without a running server, and the help shows how', async (t) => {
	const data = await dataFolder(t);
	const job = (...args: string[]) => run(['job', ...args, '--data-dir', data, '--log-level', 'error']);
	t.like(await job('list'), { code: 0, stdout: '' });
	t.like(await job('list', '--json'), { code: 0, stdout: '[]' });
	t.like(await job('list', '--user', 'nobody'), { code: 1, stderr: 'There is no user nobody.' });
	t.like(await job('cancel', 'unknown'), { code: 1, stderr: 'There is no such job.' });
	t.like(await job('retry', 'unknown'), { code: 1, stderr: 'There is no such job.' });
	const choice = 'Name jobs by their ids, or choose them by --user, --kind or --all.';
	t.like(await job('cancel'), { code: 1, stderr: choice });
	t.like(await job('cancel', 'unknown', '--all'), { code: 1, stderr: choice });
	t.like(await job('cancel', '--user', 'nobody'), { code: 1, stderr: 'There is no user nobody.' });
	t.like(await job('release'), { code: 1, stderr: 'Choose jobs by --user or --kind, or all by --all.' });
	t.like(await job('release', '--user', 'nobody'), { code: 1, stderr: 'There is no user nobody.' });
	t.like(await job('release', '--all'), { code: 0, stdout: 'Nothing was held back.' });
	t.like(await job('cancel', '--all'), { code: 0, stdout: '' });
	t.regex((await job('list', '--help')).stdout, /Examples:\n {2}\$ stowage job list/);
});

/** The sources of the modules that a command has loaded by its end; each file of the program says of which ones it is made. */
async function loadedBy(t: ExecutionContext, ...args: string[]): Promise<string[]> {
	const folder = await dataFolder(t);
	const { code, stderr } = await stowage(args, { env: { NODE_V8_COVERAGE: folder } });
	t.is(code, 0, stderr);
	const [name = ''] = await readdir(folder);
	const { result } = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as { result: { url: string }[] };
	const files = result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
	const texts = await Promise.all(files.map((url) => readFile(new URL(url), 'utf8')));
	return [...files, ...texts.flatMap((text) => text.match(/^\/\/ (cli|node_modules|packages|plugins)\/\S+$/gm) ?? [])];
}

test('a command loads only the modules it needs: --version no packages, config check no database driver, user list no HTTP server', async (t) => {
	const folder = await dataFolder(t);
	const assertNotLoaded = (loaded: readonly string[], ...names: string[]) => {
		t.true(loaded.some((url) => url.endsWith('/src/program.ts')));
		for (const name of names)
			t.deepEqual(
				loaded.filter((url) => url.includes(name)),
				[],
			);
	};
	assertNotLoaded(await loadedBy(t, '--version'), ' packages/', ' plugins/', '/commands/', '/zod/');
	const check = await loadedBy(t, 'config', 'check', '--data-dir', folder);
	assertNotLoaded(check, '/commands/serve.ts', '@hapi/', '/knex/lib/dialects/', 'libsql', '/mysql2/', '/sharp/');
	const list = await loadedBy(t, 'user', 'list', '--data-dir', folder);
	assertNotLoaded(
		list,
		'/commands/serve.ts',
		'@hapi/hapi/',
		'@node-rs/argon2/',
		'/string-width/',
		'/registerRoutes.ts',
		'/createMetrics.ts',
		'/mysql2/',
		'/sharp/',
		'/yazl/',
	);
});

test('commands print no log lines below a warning, unless a flag asks for them', async (t) => {
	const folder = await dataFolder(t);
	// Without programs, plugins log what that means for the server.
	const list = (...words: string[]) =>
		stowage(['user', 'list', '--data-dir', folder, ...words], { env: { PATH: '/nowhere' } });
	t.deepEqual(await list(), { code: 0, stdout: '', stderr: '' });
	t.regex((await list('--log-level', 'info')).stderr, /have no thumbnails/);
});
