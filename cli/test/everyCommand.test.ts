import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Command } from 'commander';
import { codeAt } from '../../packages/core/test/authenticator.js';
import { Client, field, file, json, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { administrator } from '../src/commandLine/administrator.js';
import { createProgram } from '../src/program.js';
import { dataFolder, run } from './program.js';

const password = 'correct horse';

/**
 * Commands that are not run beside a server: one is the server, one needs its port, the others need an empty folder or
 * change the machine. They have tests of their own.
 */
const notBesideServer = ['serve', 'health', 'restore', 'service install', 'service uninstall'];

/** All commands without subcommands, such as `user add`. */
function commandsOf(command: Command, above: readonly string[] = []): string[] {
	if (command.commands.length === 0) return [above.join(' ')];
	return command.commands.flatMap((each) => commandsOf(each, [...above, each.name()]));
}

/** What each command that changes something is recorded as, with the account or the root that is changed. */
const expectedOrders = [
	'addRoot big',
	'backup',
	'cancelJob bob',
	'configure',
	'copyDatabase',
	'createLink bob',
	'createShare bob',
	'createUser ada',
	'createUser carol',
	'createUser dave',
	'deleteShare bob',
	'disableTotp ada',
	'disableUser ada',
	'enableUser ada',
	'endSessions ada',
	'jobEnd bob',
	'moveHome bob big',
	'password ada',
	'purgeTrash bob',
	'purgeTrash bob local',
	'purgeVersions bob',
	'purgeVersions bob local',
	'recoverTrash local',
	'relocateRoot archive',
	'removeRoot archive',
	'removeUpload',
	'removeUser bob',
	'removeUser carol',
	'removeUser dave',
	'renameRoot big',
	'renameUser ada',
	'restoreItem bob',
	'revokeLink bob',
	'setDefaultRoot archive',
	'setDefaultRoot local',
	'setMembers bob',
	'setQuota bob',
];

async function runEveryCommand(t: ExecutionContext, database: Record<string, string>): Promise<void> {
	const app = await testApp(t, { '--public-listing': 'everyone', '--search-index': 'true', ...database });
	const folder = await dataFolder(t);
	const at = (name: string) => path.join(folder, name);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error', ...Object.entries(database).flat()];
	const executed = new Set<string>();
	const known = commandsOf(await createProgram());
	/** Runs a command. With --json its output must be valid JSON. */
	const call = async (words: string, { code = 0, input = '' }: { code?: number; input?: string } = {}) => {
		const args = words.split(' ');
		const name = known.find((each) => words === each || words.startsWith(`${each} `)) ?? words;
		executed.add(name);
		const hasSettings = name !== 'completion' && name !== 'service print';
		const ended = await run([...args, ...(hasSettings ? flags : [])], input);
		t.is(ended.code, code, `${words}: ${ended.stderr}`);
		if (args.includes('--json') && ended.code === 0 && name !== 'audit') JSON.parse(ended.stdout);
		return ended.stdout;
	};
	/** The JSON of a list, whose sizes are bytes for programs that read it without --json, too. */
	const list = async (words: string) => {
		if (/ (list|show|members)\b/.test(words))
			for (const cell of (await call(words)).split(/[\n\t]/)) t.notRegex(cell, /^[\d.]+ [KMGT]?B$/, words);
		return JSON.parse(await call(`${words} --json`));
	};
	const signIn = async (username: string, word = password) => {
		const client = new Client(app);
		const { statusCode } = await client.post('/api/login', { username, password: word });
		return { client, statusCode };
	};
	/** The recorded orders that were carried out, each once. */
	const orders = async () => {
		const { systemUser, uid } = administrator();
		const records = (await call('audit --user administrator --json')).split('\n').map((line) => JSON.parse(line));
		for (const record of records) {
			t.is(record.actor, 'administrator');
			t.false('user' in record || 'userId' in record, record.action);
			if (record.action !== 'jobEnd') t.like(record, { systemUser, uid });
		}
		const done = records.filter(({ outcome }) => outcome === 'ok');
		return [
			...new Set(done.map(({ action, account, root }) => [action, account, root].filter(Boolean).join(' '))),
		].sort();
	};
	const visitor = new Client(app);
	const rootNames = () => app.services.roots.all().map(({ name }) => name);
	const readiness = async () => json(await visitor.get('/api/ready')).checks;

	// Accounts: each change takes effect at the server's next request.
	await call('user add ada', { input: `${password}\n` });
	await call('user add ada', { code: 1, input: `${password}\n` });
	const { client: ada } = await signIn('ada');
	t.is((await ada.upload('/api/upload', [file('a.txt', 'four')])).statusCode, 200);
	t.deepEqual(
		(await list('user list')).map(({ username }: { username: string }) => username),
		['ada'],
	);
	t.like(await list('user show ada'), { used: { bytes: 4 } });
	const { client: phone } = await signIn('ada');
	const sessions = await list('user sessions list ada');
	t.is(sessions.length, 2);
	await call('user sessions revoke ada zzz', { code: 1 });
	await call(`user sessions revoke ada ${sessions[0].id.slice(0, 8)}`);
	const alive = [ada, phone].map(async (each) => (await each.get('/api/sessions')).statusCode);
	t.deepEqual((await Promise.all(alive)).sort(), [200, 401]);
	await call('user passwd ada', { input: 'battery staple\n' });
	t.is((await ada.get('/api/sessions')).statusCode, 401);
	t.is((await signIn('ada')).statusCode, 401);
	const { client: again } = await signIn('ada', 'battery staple');
	const { secret } = json(await again.post('/api/totp', {}));
	t.is((await again.post('/api/totp/confirm', { code: codeAt(secret) })).statusCode, 200);
	t.like((await list('user list'))[0], { hasSecondFactor: true });
	t.is((await signIn('ada', 'battery staple')).statusCode, 401);
	await call('user remove-totp ada');
	t.is((await signIn('ada', 'battery staple')).statusCode, 200);
	await call('user disable ada');
	t.is((await again.get('/api/sessions')).statusCode, 401);
	t.not((await signIn('ada', 'battery staple')).statusCode, 200);
	await call('user enable ada');
	await call('user rename ada bob');
	const { client: bob, statusCode } = await signIn('bob', 'battery staple');
	t.is(statusCode, 200);
	t.is((await bob.get('/api/download/a.txt?type=private')).payload, 'four');
	await call('user quota bob --bytes 1KB');
	await until('the quota is enforced', async () => {
		const answer = await bob.upload('/api/upload', [file('b.txt', 'b'.repeat(5000))]);
		return answer.statusCode === 507;
	});
	await call('user quota bob --none');
	t.like(await list('user quota bob'), { quota: { bytes: 0, isDefault: { bytes: false } } });

	// Links.
	const [token] = /[^/\s]+$/.exec(await call('link add bob a.txt --expires 1h')) ?? [];
	t.is((await visitor.get(`/api/temp/${token}`)).payload, 'four');
	const [link] = await list('link list bob');
	await call(`link revoke ${link.id.slice(0, 8)}`);
	t.is((await visitor.get(`/api/temp/${token}`)).statusCode, 404);
	await call(`link revoke ${link.id}`, { code: 1 });
	await call('link purge');
	t.deepEqual(await list('link list'), []);

	// Shares.
	const [address = ''] =
		/\/s\/[\w-]{43}$/.exec(
			await call('share create bob a.txt --expires 7d --password --max-downloads 2', { input: 'a secret word\n' }),
		) ?? [];
	const [share] = await list('share list bob');
	t.like(share, { user: 'bob', mode: 'view', state: 'active', items: ['a.txt'], hasPassword: true, maxDownloads: 2 });
	t.like(json(await bob.get('/api/shares')).shares, [{ id: share.id, title: 'a.txt' }]);
	t.true(json(await bob.get('/api/shares')).shares[0].url.endsWith(address));
	t.true((await list(`share show ${share.id.slice(0, 8)}`)).address.endsWith(address));
	await call('share create bob a.txt --mode upload', { code: 1 });
	await call(`share remove ${share.id.slice(0, 8)}`);
	await call(`share remove ${share.id}`, { code: 1 });
	t.deepEqual(await list('share list'), []);
	await bob.post('/api/createFolder', { directory: '', folderName: 'together', type: 'private' });
	await call('share set-members bob together carol:edit', { code: 1 });
	await call('user add carol', { input: 'correct horse\n' });
	await call('share set-members bob together carol', { code: 1 });
	await call('share set-members bob together carol:edit');
	t.deepEqual(await list('share members bob'), [
		{ user: 'bob', path: 'together', members: [{ username: 'carol', role: 'edit' }] },
	]);
	await call('user add dave', { input: 'correct horse\n' });
	t.is(await call('share set-members bob together carol:edit dave:view'), 'carol:edit\ndave:view');
	await call('share set-members bob together');
	t.deepEqual(await list('share members'), []);
	for (const name of ['carol', 'dave']) await call(`user remove ${name} --keep-files`);

	// The trash.
	const deleted = async (name: string) => {
		await until('the former quota is forgotten', async () => {
			const { statusCode } = await bob.upload('/api/upload', [file(name, name)]);
			return statusCode === 200;
		});
		const answer = await bob.call('DELETE', '/api/deleteItem', { filePath: name, type: 'private' });
		return json(answer).trashId as string;
	};
	const restorable = await deleted('restored.txt');
	t.like(await list('trash list --user bob'), [{ id: restorable, user: 'bob', path: 'restored.txt', size: 12 }]);
	await call('trash restore zzzzzzzz', { code: 1 });
	t.is(await call(`trash restore ${restorable.slice(0, 8)}`), 'Restored restored.txt of bob.');
	t.is((await bob.get('/api/download/restored.txt?type=private')).payload, 'restored.txt');
	await call('trash purge', { code: 1 });
	await call('trash purge --older-than 7d');
	await deleted('one.txt');
	const two = await deleted('two.txt');
	t.is(await call(`trash purge ${two}`), 'Removed 1 item.');
	t.is(await call('trash purge --user bob --root local'), 'Removed 1 item.');
	t.deepEqual(json(await bob.get('/api/trash')).entries, []);
	const lost = await deleted('lost.txt');
	const { trash } = app.services.database;
	// Its row and its note are written.
	await app.services.trashBin.close();
	await trash.remove([lost]);
	t.regex((await run(['doctor', '--json', ...flags])).stdout, /trash recover/);
	t.is(await call('trash recover'), 'local: 1 item listed again.');
	t.is(await call(`trash restore ${lost}`), 'Restored lost.txt of bob.');

	// Versions.
	const replaced = async (content: string) => {
		const parts = [field('directory', ''), field('onConflict', 'replace'), file('lost.txt', content)];
		t.is((await bob.upload('/api/upload', parts)).statusCode, 200);
	};
	for (const content of ['two', 'three', 'four']) await replaced(content);
	const versions = await list('versions list --user bob');
	t.like(
		versions,
		[8, 3, 5].map((size) => ({ user: 'bob', path: 'lost.txt', size })),
	);
	await call('versions purge', { code: 1 });
	await call('versions purge --older-than 7d');
	t.is(await call(`versions purge ${versions[0]?.id}`), 'Removed 1 version.');
	t.is(await call('versions purge --user bob --root local'), 'Removed 2 versions.');
	t.deepEqual(json(await bob.get('/api/versions/lost.txt')).versions, []);

	// Roots, and a home that moves.
	await call(`root add big ${at('big')}`);
	t.deepEqual(rootNames(), ['local', 'big']);
	t.deepEqual(await readiness(), { database: 'ok', storage: 'ok', plugins: 'ok' });
	t.is((await list('root list')).length, 2);
	const { jobs } = app.services.database;
	const next = jobs.next.bind(jobs);
	// On a busy machine it would be done before it is cancelled.
	jobs.next = async () => undefined;
	const { job } = await list('user move-root bob big --no-wait');
	await call('root remove big', { code: 1 });
	t.is((await bob.call('DELETE', `/api/jobs/${job}`)).statusCode, 403);
	await call(`job cancel ${job.slice(0, 8)}`);
	jobs.next = next;
	await until('the job is cancelled', async () => json(await bob.get(`/api/jobs/${job}`)).status === 'cancelled');
	t.is((await bob.post(`/api/jobs/${job}/retry`, undefined)).statusCode, 403);
	await call('job release --user bob');
	await call(`job retry ${'0'.repeat(32)}`, { code: 1 });
	t.is((await list('job list --all'))[0].id, job);
	t.deepEqual(await list('job list'), []);
	await call('user move-root bob big');
	t.true((await readdir(at('big/users/bob'))).includes('a.txt'));
	t.false((await readdir(path.join(app.filesDir, 'users'))).includes('bob'));
	t.is((await bob.get('/api/download/a.txt?type=private')).payload, 'four');
	await call('root rename big archive');
	await until('the server knows the new name', () => rootNames().includes('archive'));
	await rename(at('big'), at('moved'));
	await call('root check archive --json', { code: 1 });
	t.is((await bob.get('/api/browse?type=private')).statusCode, 503);
	await call(`root relocate archive ${at('moved')}`);
	t.is((await bob.get('/api/download/a.txt?type=private')).payload, 'four');
	await call('root check --json');
	await call('root set-default archive');
	await visitor.upload('/api/upload/public', [file('visitor.txt', 'v')]);
	t.deepEqual(await readdir(at('moved/users/anonymous/Public')), ['visitor.txt']);

	// Visitors. Their unfinished upload stays on the root that was the default one.
	const text = (word: string) => Buffer.from(word).toString('base64');
	const tus = { 'tus-resumable': '1.0.0' };
	const begun = await visitor.call('POST', '/api/uploads', undefined, {
		...tus,
		'upload-length': '5000000',
		'upload-metadata': `filename ${text('big.bin')},type ${text('public')}`,
	});
	t.is(begun.statusCode, 201, begun.payload);
	t.is((await list('public list'))[0].path, 'visitor.txt');
	await call('public purge --older-than 0m --yes', { code: 1 });
	await call('public purge --older-than 1m --yes');
	t.is(json(await bob.get('/api/browse?type=public')).entries.length, 1, 'the file is younger than a minute');
	await rm(at('moved/users/anonymous/Public/visitor.txt'));
	await call('root set-default local');
	await call('root remove archive', { code: 1 });
	await call('user remove bob --delete-files');
	t.is((await bob.get('/api/sessions')).statusCode, 401);
	t.deepEqual(await readdir(at('moved/users')), ['anonymous']);
	const { stderr } = await run(['root', 'remove', 'archive', ...flags]);
	t.is(
		stderr,
		'There is 1 unfinished upload on archive. Wait until it is finished or expired (uploads.expireAfter), or end it: stowage upload remove --root archive',
	);
	t.like(await list('upload list --root archive'), [{ user: null, name: 'big.bin', offset: 0, length: 5_000_000 }]);
	await call('upload remove --root archive', { code: 1 });
	await call('upload remove --root archive --yes');
	const upload = new URL(String(begun.headers.location), 'http://127.0.0.1').pathname;
	t.is((await visitor.call('HEAD', upload, undefined, tus)).statusCode, 404);
	await call('upload remove', { code: 1 });
	await call('root remove archive');
	await until('the server has removed the root', () => !rootNames().includes('archive'));

	// The index of names, which the server has.
	const indexOf = async () => JSON.parse(await call('search status --json')).roots[0];
	await until('all is indexed', async () => {
		const { state, names, waiting } = await indexOf();
		return state === 'indexed' && names > 0 && waiting === 0;
	});
	t.false((await call('search status')).includes(' in all'), 'each line is a row');
	t.regex(await call('search rebuild'), /^The server builds the index anew/);
	await until('it is built again', async () => {
		const { names, waiting } = await indexOf();
		return !(await readdir(path.join(app.dataDir, 'search'))).includes('rebuild') && names > 0 && waiting === 0;
	});

	// Commands that change nothing of the server.
	for (const line of (await call('audit --json')).split('\n')) t.is(typeof JSON.parse(line).action, 'string');
	await call(`backup ${at('backup.zip')} --json`);
	await call(`backup ${at('backup.zip')}`, { code: 1 });
	await call('migrate --status --json');
	await call('migrate --json');
	await call('doctor --json', { code: 1 });
	await call(`config init ${at('stowage.yaml')} --yes`);
	t.regex(await readFile(at('stowage.yaml'), 'utf8'), /^dataDir: /m);
	t.regex(await call('config print'), /^dataDir: /m);
	await call('config check');
	await call(`database copy --to sqlite:${at('copy.db')} --json`);
	t.regex(await call('service print'), /^\[Service\]$/m);
	t.regex(await call('completion bash'), /move-root/);
	t.is((await visitor.get('/api/ready')).statusCode, 200, 'the server is still ready');
	t.deepEqual(await orders(), expectedOrders);

	t.deepEqual(
		known.filter((name) => !executed.has(name) && !notBesideServer.includes(name)),
		[],
		'every command was run',
	);
}

test('every command works beside a running server on SQLite, and its changes take effect at once', runEveryCommand, {});

test('every command works beside a running server on MariaDB, and its changes take effect at once', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await runEveryCommand(t, { '--database-url': await mariadb.createDatabase() });
});
