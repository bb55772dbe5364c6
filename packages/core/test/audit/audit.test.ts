import { randomBytes } from 'node:crypto';
import {
	appendFile,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	readlink,
	rm,
	stat,
	truncate,
	writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Aggregator } from '../../src/audit/Aggregator.js';
import { AuditFile } from '../../src/audit/AuditFile.js';
import { auditFileName, auditFiles, auditFolder, removeOldAudit } from '../../src/audit/auditFolder.js';
import { type AuditRecord, auditLine, maxLineBytes, parseAuditLine } from '../../src/audit/auditLine.js';
import { readAudit } from '../../src/audit/readAudit.js';
import { Client, dataDirs, file, json, recordsOf, type TestApp, testApp } from '../testApp.js';
import { create, patch } from '../tusClient.js';
import { until } from '../until.js';

async function folderOf(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(folder, { recursive: true }));
	return folder;
}

async function collect(records: AsyncIterable<AuditRecord>): Promise<AuditRecord[]> {
	const found: AuditRecord[] = [];
	for await (const record of records) found.push(record);
	return found;
}

/** Closes the audit log and resolves to all its records. */
async function recorded(app: TestApp): Promise<AuditRecord[]> {
	await app.services.audit.close();
	return recordsOf(app);
}

const brief = ({ action, outcome, user, path: at }: AuditRecord) => [action, outcome, user, at].join(' ').trimEnd();

test('each action is one line with its user, address, file and outcome, without tokens and passwords, in a file that only its owner can read', async (t) => {
	const app = await testApp(t, { '--audit-record': 'all' });
	const ada = await new Client(app).register('ada');
	const { id: userId } = await app.services.accounts.find('ada');
	await new Client(app).post('/api/login', { username: 'ada', password: 'wrong horse' });
	await ada.upload('/api/upload', [file('a.txt', 'twelve bytes')]);
	await ada.post('/api/createFolder', { type: 'private', directory: '', folderName: 'new' });
	await ada.post('/api/createFolder', { type: 'private', directory: '', folderName: 'new' });
	await ada.post('/api/copyItem', { type: 'private', fromPath: 'a.txt', toPath: 'new/b.txt' });
	await ada.post('/api/renameItem', { type: 'private', oldPath: 'a.txt', newName: 'c.txt' });
	await ada.post('/api/moveItem', { type: 'private', fromPath: 'c.txt', toPath: 'new/c.txt' });
	await ada.get('/api/download/new/c.txt?type=private');
	await ada.get('/api/download/new/c.txt?type=private&inline=1');
	await ada.get('/api/download/new?type=private');
	await new Client(app).get('/api/download/new/c.txt?type=private');
	const made = json(await ada.post('/api/generateTempLink', { filePath: 'new/c.txt', expiration: '1d' }));
	await new Client(app).get(`/api/temp/${made.token}`);
	const [link] = json(await ada.get('/api/links'));
	await ada.call('DELETE', `/api/links/${link.id}`);
	await ada.call('DELETE', '/api/deleteItem', { type: 'private', filePath: 'new/c.txt' });
	await ada.call('PUT', '/api/settings', { settings: { enablePreview: false } });
	await ada.get('/api/logout');

	const records = await recorded(app);
	t.deepEqual(records.map(brief), [
		'signUp ok ada',
		'signInFailed refused',
		'upload ok ada a.txt',
		'createFolder ok ada new',
		'createFolder refused ada new',
		'copy ok ada a.txt',
		'rename ok ada a.txt',
		'move ok ada c.txt',
		'download ok ada new/c.txt',
		'preview ok ada new/c.txt',
		'downloadArchive ok ada new',
		'download refused  new/c.txt',
		'createLink ok ada new/c.txt',
		'followLink ok  new/c.txt',
		'revokeLink ok ada new/c.txt',
		'delete ok ada new/c.txt',
		'settings ok ada',
		'signOut ok ada',
	]);
	const of = (action: string) => records.find((record) => record.action === action);
	t.like(of('upload'), { userId, address: '127.0.0.1', area: 'private', bytes: 12 });
	t.like(of('signInFailed'), { user: null, account: 'ada', reason: 'badCredentials' });
	t.like(of('copy'), { to: 'new/b.txt' });
	t.like(of('download'), { bytes: 12 });
	t.is(of('downloadArchive')?.entries, 3);
	t.like(of('followLink'), { user: null, owner: 'ada', link: link.id, bytes: 12 });
	t.is(new Set(records.map(({ request }) => request)).size, records.length, 'each request has its own id');
	const classes = new Set<string>();
	for (const folder of dataDirs(app).map(auditFolder)) {
		t.is((await stat(folder)).mode & 0o777, 0o700);
		const files = await auditFiles(folder);
		const own = new Set(files.map((each) => each.class));
		t.is((await readdir(folder)).length, own.size, 'a file for each class');
		for (const each of own) classes.add(each);
		for (const { file: name } of files) {
			t.is((await stat(path.join(folder, name))).mode & 0o777, 0o600);
			const text = await readFile(path.join(folder, name), 'utf8');
			t.false(text.includes(made.token));
			t.notRegex(text, /horse/, 'the log contains no password');
		}
	}
	t.is(classes.size, 4);
});

test('downloads are not recorded by default, and nothing is recorded with audit.record off', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	await ada.get('/api/download/a.txt?type=private');
	app.services.config.audit.record = 'off';
	await ada.upload('/api/upload', [file('b.txt', 'B')]);
	t.deepEqual((await recorded(app)).map(brief), ['signUp ok ada', 'upload ok ada a.txt']);
});

test('a ZIP that is asked for by POST is recorded as one by GET is, and an answer without bytes is not', async (t) => {
	const app = await testApp(t, { '--audit-record': 'all' });
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	const selection = { type: 'private', directory: '', files: [{ path: 'a.txt' }] };
	t.is((await ada.post('/api/downloadZip', selection)).statusCode, 200);
	t.is((await ada.call('HEAD', '/api/download/a.txt?type=private')).statusCode, 200);
	const records = await recorded(app);
	t.deepEqual(records.map(brief), ['signUp ok ada', 'upload ok ada a.txt', 'downloadArchive ok ada a.txt']);
	t.true((records.at(-1)?.bytes ?? 0) > 0);
});

test('a resumable upload in several chunks is one line, and so is a form that is sent again under its key', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const created = await create(ada, 12, { filename: 'a.txt' });
	const url = created.headers.location ?? '';
	await patch(ada, url, 0, 'twelve');
	await patch(ada, url, 6, ' bytes');
	await ada.call('HEAD', url, undefined, { 'tus-resumable': '1.0.0' });
	const key = { 'stowage-upload-key': randomBytes(32).toString('base64url') };
	for (let n = 0; n < 3; n++) t.is((await ada.upload('/api/upload', [file('b.txt', 'B')], key)).statusCode, 200);
	t.deepEqual((await recorded(app)).map(brief), ['signUp ok ada', 'upload ok ada a.txt', 'upload ok ada b.txt']);
});

test('the ranges of one file are merged into one line, and so are equal refusals after the first', async (t) => {
	// The clock is frozen: all requests must fall into one minute, however slow the machine is.
	const app = await testApp(t, { '--audit-record': 'all' }, { monotonic: () => 1000 });
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'twelve bytes')]);
	for (let at = 0; at < 12; at += 3)
		await ada.get('/api/download/a.txt?type=private', { range: `bytes=${at}-${at + 2}` });
	for (let n = 0; n < 5; n++) await ada.get('/api/download/0?type=private');
	const [, , ...records] = await recorded(app);
	t.deepEqual(
		records.map(({ outcome, reason, path: at, bytes, requests }) => ({ outcome, reason, at, bytes, requests })),
		[
			{ outcome: 'refused', reason: 'notFound', at: '0', bytes: undefined, requests: undefined },
			{ outcome: 'ok', reason: undefined, at: 'a.txt', bytes: 12, requests: 4 },
			{ outcome: 'refused', reason: 'notFound', at: '0', bytes: undefined, requests: 4 },
		],
	);
});

/** Aggregates of numbers. */
const sumsOf = (monotonic: () => number, spanMs: number, write: (sum: number) => void) =>
	new Aggregator<number>({ monotonic, spanMs, merge: (sum, next) => sum + next, write });

test('at most 5,000 sums wait, and the oldest ones above that are written early', (t) => {
	let written = 0;
	const sums = sumsOf(
		() => 0,
		60_000,
		() => void written++,
	);
	for (let n = 0; n < 5010; n++) sums.add(String(n), 1);
	t.is(written, 10);
	sums.endAll();
	t.is(written, 5010);
});

test('items of one key are merged into one for a fixed time, and later ones into a new one', async (t) => {
	let now = 0;
	const written: number[] = [];
	const sums = sumsOf(
		() => now,
		20,
		(sum) => void written.push(sum),
	);
	sums.add('key', 5);
	// Timers that fire early by the clock write nothing.
	await wait(50);
	sums.add('key', 5);
	t.deepEqual(written, []);
	now = 19;
	await wait(50);
	t.is(sums.get('key'), 10);
	now = 20;
	await until('the sum is written', () => written.length > 0);
	t.is(sums.get('key'), undefined);
	sums.add('key', 5);
	sums.endAll();
	t.deepEqual(written, [10, 5]);
});

test('the actions of a job are recorded with the job and its user, and so is its end', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	const job = { kind: 'copy', type: 'private', directory: 'to', items: [{ path: 'a.txt' }] };
	await ada.post('/api/createFolder', { type: 'private', directory: '', folderName: 'to' });
	const { id } = json(await ada.post('/api/jobs', job));
	const owner = { kind: 'user', ...(await app.services.accounts.find('ada')) } as const;
	while ((await app.services.jobs.waitForEnd(owner, id, 1000)) === undefined);
	await app.services.jobs.close();
	const records = (await recorded(app)).filter((record) => record.job !== undefined);
	t.deepEqual(records.map(brief), ['copy ok ada a.txt', 'jobEnd ok ada']);
	t.like(records[0], { job: id, to: 'to/a.txt', user: 'ada' });
});

test('a path with line breaks forges no line, and long paths are shortened so that a line fits into one write', (t) => {
	const forged = '\n{"time":"2031-02-03T04:05:06.000Z","action":"delete","outcome":"ok","user":"bob"}\n';
	const line = auditLine(0, { action: 'upload', outcome: 'ok', path: forged });
	t.is(line.indexOf('\n'), line.length - 1);
	t.like(parseAuditLine(line), { action: 'upload', path: forged });
	for (const character of ['a', 'ä', '😀', '\u0001', '"', '\ud800']) {
		const at = character.repeat(65_536);
		const long = auditLine(0, { action: 'move', outcome: 'ok', user: 'ada', path: at, to: at, paths: [at, at, at] });
		t.true(Buffer.byteLength(long) <= maxLineBytes, character);
		t.like(parseAuditLine(long), { action: 'move', user: 'ada' });
	}
});

/** A line of the given time. */
const lineAt = (time: string, n = 0) =>
	auditLine(Date.parse(time), { action: 'upload', outcome: 'ok', path: String(n) });

const pathsOf = (records: readonly AuditRecord[]) => records.map((record) => record.path);

test('two writers share the same files, and each line is stored whole and once', async (t) => {
	const dataDir = await folderOf(t);
	const fail = (error: unknown) => t.fail(String(error));
	const options = { onError: fail, onRecovered: fail, partBytes: 4096 };
	const writers = [1, 2].map(() => new AuditFile(path.join(dataDir, 'audit'), 'changes', options));
	const time = '2031-02-03T04:05:06.000Z';
	for (let n = 0; n < 400; n++) {
		writers[n % 2]?.append(lineAt(time, n), Date.parse(time));
		if (n % 20 === 0) await writers[0]?.flush();
	}
	for (const writer of writers) await writer.close();
	t.true((await auditFiles(path.join(dataDir, 'audit'))).length > 3);
	const found = pathsOf(await collect(readAudit(dataDir, {})));
	t.deepEqual(
		found.map(Number).sort((a, b) => a - b),
		Array.from({ length: 400 }, (_, n) => n),
	);
});

test('a line that a power cut or another process at a full disk has torn takes none with it that is written behind it', async (t) => {
	const dataDir = await folderOf(t);
	const folder = path.join(dataDir, 'audit');
	const fail = (error: unknown) => t.fail(String(error));
	const time = '2031-02-03T04:05:06.000Z';
	const at = path.join(folder, auditFileName('2031-02-03', 'changes', 0));
	const tear = () => appendFile(at, lineAt(time, 9).slice(0, 40));
	const [first, second] = [1, 2].map(() => new AuditFile(folder, 'changes', { onError: fail, onRecovered: fail })) as [
		AuditFile,
		AuditFile,
	];
	const write = async (file: AuditFile, n: number) => {
		file.append(lineAt(time, n), Date.parse(time));
		await file.flush();
	};
	await mkdir(folder);
	await tear();
	await write(first, 0);
	await write(second, 1);
	// Of the first one, which the second does not know of.
	await tear();
	await write(second, 2);
	await write(first, 3);
	await Promise.all([first.close(), second.close()]);
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, {}))), ['0', '1', '2', '3']);
});

test('nodes write files of their own into one folder, which are read together in the order of time', async (t) => {
	const dataDir = await folderOf(t);
	const folder = path.join(dataDir, 'audit');
	const errors = { onError: (error: unknown) => t.fail(String(error)), onRecovered: () => {} };
	const time = Date.UTC(2031, 1, 3);
	const nodes = ['east', 'west', 'west 2', 'west_2'];
	for (const [index, node] of nodes.entries()) {
		const log = new AuditFile(folder, 'changes', { ...errors, node });
		log.append(auditLine(time + 100 - index, { action: 'delete', outcome: 'ok', node }), time);
		await log.close();
	}
	const files = await auditFiles(folder);
	t.is(new Set(files.map(({ node }) => node)).size, nodes.length);
	t.true(files.some(({ file: name }) => name === '2031-02-03@east.jsonl'));
	const records = await collect(readAudit(dataDir, {}));
	t.deepEqual(
		records.map(({ node }) => node),
		nodes.toReversed(),
	);
});

test('lines that are lost on a full disk are counted, and their number is reported once there is room', async (t) => {
	const dataDir = await folderOf(t);
	const faults: unknown[] = [];
	let lost = 0;
	let isFull = true;
	const audit = new AuditFile(path.join(dataDir, 'audit'), 'changes', {
		onError: (error) => faults.push(error),
		onRecovered: (count) => {
			lost = count;
		},
		async open(name, flags, mode) {
			if (!isFull) return open(name, flags, mode);
			// The device is in the place of a file on a full disk.
			const full = await open('/dev/full', flags);
			return Object.assign(full, { stat: (() => stat(path.join(dataDir, 'file'))) as typeof full.stat });
		},
	});
	await writeFile(path.join(dataDir, 'file'), '');
	const time = '2031-02-03T04:05:06.000Z';
	for (let n = 0; n < 3; n++) {
		audit.append(lineAt(time, n), Date.parse(time));
		await audit.flush();
	}
	t.is(faults.length, 1, 'reported once');
	t.regex(String(faults[0]), /ENOSPC/);
	isFull = false;
	audit.append(lineAt(time, 3), Date.parse(time));
	await audit.close();
	t.is(lost, 3);
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, {}))), ['3']);
});

test('a server that can’t write its audit log keeps serving, and records later how many lines were lost', async (t) => {
	const app = await testApp(t);
	const folder = path.join(app.dataDir, 'audit');
	await writeFile(folder, 'in the way');
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a.txt', 'A')])).statusCode, 200);
	await app.services.audit.close();
	await rm(folder);
	t.is((await ada.upload('/api/upload', [file('b.txt', 'B')])).statusCode, 200);
	const records = await recorded(app);
	t.deepEqual(records.map(brief).sort(), ['lost failed', 'upload ok ada b.txt']);
	t.deepEqual(
		records.flatMap(({ entries }) => entries ?? []),
		[2],
	);
});

test('lines that are lost are counted in the audit log also if nothing of their class happens any more', async (t) => {
	const app = await testApp(t);
	const folder = path.join(app.dataDir, 'audit');
	await writeFile(folder, 'in the way');
	const guess = await new Client(app).post('/api/login', { username: 'ada', password: 'a wrong password' });
	t.is(guess.statusCode, 401);
	await app.services.audit.sweep({ byAge: true });
	// What says so is lost in its turn, and stands for all that it counts.
	await new Client(app).register('ada');
	await app.services.audit.sweep({ byAge: true });
	await rm(folder);
	const records = await recorded(app);
	t.deepEqual(records.map(brief), ['lost failed']);
	t.is(records[0]?.entries, 2);
});

test('an audit file that is removed while the server writes it is created again', async (t) => {
	const dataDir = await folderOf(t);
	const fail = (error: unknown) => t.fail(String(error));
	const audit = new AuditFile(path.join(dataDir, 'audit'), 'changes', { onError: fail, onRecovered: fail, checkMs: 0 });
	const time = '2031-02-03T04:05:06.000Z';
	audit.append(lineAt(time, 1), Date.parse(time));
	await audit.flush();
	await rm(path.join(dataDir, 'audit'), { recursive: true });
	audit.append(lineAt(time, 2), Date.parse(time));
	await audit.close();
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, {}))), ['2']);
});

test('audit lines are read in order of time across days and parts, without torn or invalid ones, and new lines can be followed', async (t) => {
	const dataDir = await folderOf(t);
	const folder = path.join(dataDir, 'audit');
	await mkdir(folder);
	const at = (name: string, text: string | Buffer) => appendFile(path.join(folder, name), text);
	const [day, next] = ['2031-02-03', '2031-02-04'];
	await at(`${next}.jsonl`, lineAt(`${next}T00:00:00Z`, 5));
	await at(`${day}.jsonl`, lineAt(`${day}T01:00:00Z`, 1) + lineAt(`${day}T03:00:00Z`, 3));
	await at(`${day}.10.jsonl`, lineAt(`${day}T04:00:00Z`, 4));
	await at(`${day}.2.jsonl`, lineAt(`${day}T02:00:00Z`, 2));
	await at(`${next}.jsonl`, Buffer.alloc(200_000));
	await at(
		`${next}.jsonl`,
		`\nno line\n{}\n${lineAt(`${next}T01:00:00Z`, 0).slice(0, 40)}${lineAt(`${next}T02:00:00Z`, 6)}`,
	);
	await at(`${next}.jsonl`, lineAt(`${next}T03:00:00Z`, 7).slice(0, -9));
	await at('notes.txt', 'not an audit file');
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, {}))), ['1', '2', '3', '4', '5', '6']);
	const since = Date.parse(`${day}T02:00:00Z`);
	const until = Date.parse(`${next}T00:00:00Z`);
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, { since, until }))), ['2', '3', '4']);

	const following = new AbortController();
	const seen: (string | undefined)[] = [];
	let passes = 0;
	const onCaughtUp = () => void (passes++ === 0 ? at(`${next}.1.jsonl`, lineAt(`${next}T04:00:00Z`, 8)) : undefined);
	for await (const { path: found } of readAudit(dataDir, { since: until }, { signal: following.signal, onCaughtUp })) {
		seen.push(found);
		if (found === '8') following.abort();
	}
	t.deepEqual(seen, ['5', '6', '8'], 'new lines are followed');
});

test('an audit file of gigabytes that take no room on the disk is not read to its end, and is named', async (t) => {
	const dataDir = await folderOf(t);
	const folder = path.join(dataDir, 'audit');
	await mkdir(folder);
	const [before, hollow] = ['2031-02-03.jsonl', '2031-02-04.jsonl'].map((name) => path.join(folder, name)) as [
		string,
		string,
	];
	await writeFile(before, lineAt('2031-02-03T01:00:00Z', 1));
	await writeFile(hollow, lineAt('2031-02-04T01:00:00Z', 2));
	await truncate(hollow, 1024 ** 3);
	const found: AuditRecord[] = [];
	const error = await t.throwsAsync(async () => {
		for await (const record of readAudit(dataDir, {})) found.push(record);
	});
	t.true(isFailure(error, 'invalid'), error?.stack);
	t.true(error?.message.includes(`in ${hollow}.`), error?.message);
	t.deepEqual(pathsOf(found), ['1', '2'], 'what comes before it is given');

	await writeFile(hollow, Buffer.alloc(32 * 1024 ** 2));
	await appendFile(hollow, `\n${lineAt('2031-02-04T02:00:00Z', 3)}`);
	t.deepEqual(pathsOf(await collect(readAudit(dataDir, {}))), ['1', '3'], 'a power cut may leave zeros');
});

test('a day with very many files is read with one of them open at a time', async (t) => {
	const dataDir = await folderOf(t);
	const folder = auditFolder(dataDir);
	await mkdir(folder);
	const count = 300;
	for (let part = 0; part < count; part++) {
		const line = lineAt(`2031-02-03T04:05:0${part % 7}Z`, part);
		await writeFile(path.join(folder, auditFileName('2031-02-03', 'changes', part)), line);
	}
	let found = 0;
	let last = '';
	let most = 0;
	for await (const { time } of readAudit(dataDir, {})) {
		t.true(time >= last);
		last = time;
		found++;
		const targets = (await readdir('/proc/self/fd')).map((each) => readlink(`/proc/self/fd/${each}`).catch(() => ''));
		most = Math.max(most, (await Promise.all(targets)).filter((each) => each.startsWith(folder)).length);
	}
	t.is(found, count);
	t.true(most <= 1, `${most} were open`);
});

test('audit files older than the limit are removed, then the oldest ones above the size limit, but never the newest', async (t) => {
	const folder = await folderOf(t);
	const days = ['2031-02-01', '2031-02-02', '2031-02-03', '2031-02-04'];
	for (const day of days) await writeFile(path.join(folder, `${day}.jsonl`), Buffer.alloc(1000));
	const left = async () => (await auditFiles(folder)).map(({ day }) => day);
	const dayMs = 24 * 60 * 60_000;
	const now = Date.parse('2031-02-04T12:00:00Z');
	await removeOldAudit(folder, now, { keepFor: 2 * dayMs, maxSize: 10_000 });
	t.deepEqual(await left(), days.slice(1));
	await removeOldAudit(folder, now, { keepFor: 30 * dayMs, maxSize: 2500 });
	t.deepEqual(await left(), days.slice(2));
	await removeOldAudit(folder, now, { keepFor: 30 * dayMs, maxSize: 0 });
	t.deepEqual(await left(), days.slice(3), 'the newest file is kept');
});

test('where there is too much, only those classes lose their oldest files that have more than their shares', async (t) => {
	const folder = await folderOf(t);
	const write = (name: string, bytes: number) => writeFile(path.join(folder, name), Buffer.alloc(bytes));
	await write('2031-02-01.security.jsonl', 200);
	for (const day of ['2031-02-02', '2031-02-03', '2031-02-04']) await write(`${day}.jsonl`, 300);
	await write('2031-02-02.visits.jsonl', 100);
	await write('2031-02-04.attempts.jsonl', 100);
	const now = Date.parse('2031-02-04T12:00:00Z');
	const sweep = async (maxSize: number) => {
		await removeOldAudit(folder, now, { keepFor: 90 * 24 * 60 * 60_000, maxSize });
		return (await readdir(folder)).sort();
	};
	t.is((await sweep(1300)).length, 6, 'a class may have what the others leave');
	const left = ['2031-02-01.security.jsonl', '2031-02-02.visits.jsonl', '2031-02-04.attempts.jsonl'];
	t.deepEqual(await sweep(1000), [...left, '2031-02-03.jsonl', '2031-02-04.jsonl'].sort());
	t.deepEqual(await sweep(800), [...left, '2031-02-04.jsonl'].sort());
});
