import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { anonymousOwner } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { AuditFile } from '../../src/audit/AuditFile.js';
import { bounded } from '../../src/audit/aggregate.js';
import { type AuditClass, auditShares } from '../../src/audit/auditClasses.js';
import { type AuditEntry, type AuditRecord, auditEntry, auditLine, maxLineBytes } from '../../src/audit/auditLine.js';
import { type Audit, createAudit } from '../../src/audit/createAudit.js';
import { createLineThrottle } from '../../src/audit/createLineThrottle.js';
import { readAudit } from '../../src/audit/readAudit.js';
import { Client, file, json, recordsOf, type TestApp, testApp } from '../testApp.js';

const dayMs = 24 * 60 * 60_000;
const quarterMs = 15 * 60_000;

/** Closes the audit log and resolves to all its records. */
async function recorded(app: TestApp): Promise<AuditRecord[]> {
	await app.services.audit.close();
	return recordsOf(app);
}

test('guesses at several accounts from one address are counted by account, and refusals by what was asked for', async (t) => {
	const app = await testApp(t, { '--audit-record': 'all' }, { monotonic: () => 1000 });
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	const guess = (username: string) => ada.post('/api/login', { username, password: 'wrong horse' });
	await guess('ada');
	for (let n = 0; n < 9; n++) await guess('bob');
	for (const name of ['a', 'b', 'a', 'b', 'b']) await ada.get(`/api/download/${name}?type=private`);
	const records = await recorded(app);
	const counts = new Map<string, number>();
	for (const { action, account, path: at, requests = 1 } of records) {
		const what = `${action} ${account ?? at ?? ''}`;
		counts.set(what, (counts.get(what) ?? 0) + requests);
	}
	t.is(counts.get('signInFailed ada'), 1);
	t.is(counts.get('signInFailed bob'), 9);
	t.is(counts.get('download a'), 2);
	t.is(counts.get('download b'), 3);
});

test('what changes nothing is not recorded', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	const { accounts, links } = app.services;
	let lines = (await recorded(app)).length;
	await ada.call('PUT', '/api/settings', { settings: {} });
	await ada.call('PUT', '/api/settings', { settings: { enablePreview: true } });
	await ada.post('/api/renameItem', { type: 'private', oldPath: 'a.txt', newName: 'a.txt' });
	await ada.call('DELETE', '/api/sessions');
	await new Client(app).get('/api/logout');
	await accounts.setDisabled('ada', false);
	await accounts.setQuota('ada', { bytes: null, entries: null });
	await links.purge();
	t.is((await recorded(app)).length, lines);
	await new Client(app).register('bob');
	await mkdir(path.join(app.filesDir, 'users/ada/docs'));
	const members = [{ username: 'bob', role: 'view' }];
	const { id } = json(await ada.post('/api/shares', { items: [{ path: 'docs' }], mode: 'view' }));
	const before = (await recorded(app)).length;
	const times = async (count: number, work: () => Promise<{ statusCode: number }>) => {
		for (let n = 0; n < count; n++) t.is((await work()).statusCode, 200);
	};
	await times(3, () => ada.call('PUT', '/api/members', { path: 'docs', members }));
	await times(3, () => ada.call('PATCH', `/api/shares/${id}`, { title: 'docs', maxDownloads: null }));
	await times(3, () => ada.call('PATCH', `/api/shares/${id}`, { isPaused: true, maxDownloads: 3 }));
	await times(2, () => ada.call('PUT', '/api/members', { path: 'docs', members: [] }));
	t.deepEqual(
		(await recorded(app)).slice(before).map(({ action, entries, detail }) => [action, entries ?? detail]),
		[
			['setMembers', 1],
			['changeShare', 'maxDownloads, isPaused'],
			['setMembers', 0],
		],
	);
	lines = (await recorded(app)).length;
	await ada.call('PUT', '/api/settings', { settings: { enablePreview: false } });
	await new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' });
	await ada.call('DELETE', '/api/sessions');
	await accounts.setQuota('ada', { bytes: 5, entries: null });
	await accounts.setDisabled('ada', true);
	t.deepEqual(
		(await recorded(app)).slice(lines).map(({ action, entries, detail }) => [action, entries ?? detail]),
		[
			['settings', undefined],
			['signIn', undefined],
			['endSessions', 1],
			['setQuota', 'bytes: 5, entries: default'],
			['disableUser', undefined],
		],
	);
});

test('a setting that is toggled a thousand times is five lines, then a sum with the number and the times', async (t) => {
	const clock = { time: Date.parse('2031-02-03T04:05:06Z') };
	const app = await testApp(t, {}, { monotonic: () => 1000, now: () => clock.time });
	for (let n = 0; n < 1000; n++) {
		clock.time += 10;
		app.services.audit.record({ action: 'settings' }, { outcome: 'ok' });
	}
	const lines = await recorded(app);
	t.is(lines.length, 6);
	t.like(lines[5], { requests: 995, first: '2031-02-03T04:05:06.060Z', last: '2031-02-03T04:05:16.000Z' });
});

/** The throttle of a log over simulated time, and what it writes. */
function simulation(maxSize: number, { workers = 1, keepFor = 90 * dayMs } = {}) {
	let now = 0;
	const bytes: Record<AuditClass, number> = { security: 0, attempts: 0, changes: 0, visits: 0 };
	let written: AuditEntry[] = [];
	const bytesOf = (entry: AuditEntry) => Buffer.byteLength(auditLine(0, entry));
	const throttle = createLineThrottle({
		config: { audit: { record: 'changes', keepFor, maxSize }, workers },
		monotonic: () => now,
		write(auditClass, entry) {
			bytes[auditClass] += bytesOf(entry);
			written.push(entry);
		},
		bytesOf,
	});
	return {
		bytes,
		write: (entry: AuditEntry) => throttle.write({ entry, count: 1, first: now, last: now }),
		/** What is written of one entry. */
		writtenOf(entry: AuditEntry) {
			written = [];
			this.write(entry);
			return written;
		},
		/** The sums that wait. */
		sums() {
			written = [];
			throttle.endAll();
			return written;
		},
		/** Lets all the time that lines are kept pass, or so many quarters of an hour, with a flood in each. */
		async pass(flood: (quarter: number) => void, quarters = keepFor / quarterMs) {
			for (let quarter = 0; quarter < quarters; quarter++) {
				flood(quarter);
				now += quarterMs;
				throttle.writeAggregates();
				written = [];
				// Other tests of the process have servers of their own, whose time-outs go on meanwhile.
				if (quarter % 20 === 0) await turn();
			}
		},
	};
}

const maxSize = 100 * 1024 ** 2;

test('an account that floods the log for as long as lines are kept fills a third of the share of changes at most, and others are recorded in detail', async (t) => {
	const log = simulation(maxSize);
	const by = (name: string) => ({ user: name, userId: name, address: '2001:db8::1' });
	const actions = ['upload', 'delete', 'settings', 'rename', 'move', 'createFolder', 'createLink', 'jobEnd'] as const;
	let count = 0;
	await log.pass((quarter) => {
		for (let n = 0; n < 16; n++) {
			const name = `${'x'.repeat(700)}/${quarter}-${n}`;
			const reason = n > 7 ? String(n) : 'fault';
			log.write({ action: actions[n % 8] ?? 'upload', outcome: 'failed', reason, ...by('ada'), path: name });
			count++;
		}
		log.write({ action: 'signIn', outcome: 'ok', ...by('ada') });
	});
	t.true(count * 700 > 2 * maxSize * auditShares.changes);
	t.true(log.bytes.changes < (maxSize * auditShares.changes) / 3, `${log.bytes.changes}`);
	t.true(log.bytes.security < (maxSize * auditShares.security) / 4, `${log.bytes.security}`);
	for (const action of ['delete', 'signIn', 'password'] as const) {
		const entry = { action, outcome: 'ok', ...by('bob'), ...(action === 'delete' ? { path: 'a.txt' } : {}) } as const;
		t.deepEqual(log.writtenOf(entry), [entry]);
	}
});

test('wrong passwords from everywhere for as long as lines are kept stay within their share, and sign-ins are recorded in detail', async (t) => {
	const log = simulation(maxSize);
	await log.pass((quarter) => {
		for (let n = 0; n < 20; n++) {
			const address = `203.${quarter % 256}.${n}.${Math.floor(quarter / 256)}`;
			for (const account of ['ada', 'bob'])
				log.write({
					action: 'signInFailed',
					outcome: 'refused',
					reason: 'x'.repeat(400),
					user: null,
					account,
					address,
				});
		}
	});
	t.true(8640 * 20 * 400 > 4 * maxSize * auditShares.attempts);
	t.true(log.bytes.attempts < maxSize * auditShares.attempts, `${log.bytes.attempts}`);
	const signIn = { action: 'signIn', outcome: 'ok', user: 'bob', userId: 'bob', address: '203.0.113.9' } as const;
	t.deepEqual(log.writtenOf(signIn), [signIn]);
});

test('floods by many accounts leave others their lines in detail, and their sums with their names, for as long as they go on', async (t) => {
	const small = maxSize / 5;
	const log = simulation(small, { keepFor: 8 * dayMs });
	const by = (name: string) => ({ user: name, userId: name, address: '2001:db8::1', outcome: 'ok' }) as const;
	let isWhole = true;
	await log.pass((quarter) => {
		for (let account = 0; account < 40; account++)
			for (let n = 0; n < 4; n++)
				log.write({ action: 'delete', ...by(`bad ${account}`), path: `${'x'.repeat(600)}/${quarter}-${n}` });
		// One who is new, and one who does this every six hours.
		for (const name of quarter % 24 === 0 ? ['ada', `new ${quarter}`] : []) {
			const entry = { action: 'delete', ...by(name), path: `${quarter}.txt` } as const;
			isWhole &&= log.writtenOf(entry).length === 1;
		}
	});
	t.true(isWhole);
	t.true(log.bytes.changes < small * auditShares.changes, `${log.bytes.changes}`);
	const ofEve = (n: number) => log.writtenOf({ action: 'delete', ...by('eve'), path: `${n}.txt` });
	const found = [...Array.from({ length: 200 }, (_, n) => ofEve(n)).flat(), ...log.sums()];
	t.is(
		found.filter(({ user }) => user === 'eve').reduce((sum, { requests = 1 }) => sum + requests, 0),
		200,
	);
});

test('the processes of a server together write no more than one would', async (t) => {
	const written: number[] = [];
	for (const workers of [1, 4]) {
		const log = simulation(maxSize, { workers });
		const by = { user: 'ada', userId: '1', address: '2001:db8::1', outcome: 'ok' } as const;
		for (let n = 0; n < 20_000; n++) log.write({ action: 'delete', ...by, path: `${n}.txt` });
		written.push(log.bytes.changes);
	}
	const [alone = 0, each = 0] = written;
	t.true(each * 4 <= alone * 1.01, `${written}`);
});

test('floods by many accounts at a server that is restarted again and again stay within the share', (t) => {
	const audit = { record: 'changes' as const, keepFor: 10 * dayMs, maxSize: 40 * 1024 * 1024 };
	const share = audit.maxSize * auditShares.changes;
	const written: { at: number; bytes: number }[] = [];
	let total = 0;
	for (let day = 1; day <= 10; day++) {
		let bytes = 0;
		const bytesOf = (entry: AuditEntry) => Buffer.byteLength(auditLine(0, entry));
		const throttle = createLineThrottle({
			config: { audit, workers: 1 },
			monotonic: () => 1000,
			write: (_of, entry) => (bytes += bytesOf(entry)),
			bytesOf,
		});
		throttle.resume('changes', written, day * dayMs);
		for (let n = 0; n < 12_000; n++) {
			const name = `user${n % 30}`;
			const path = `folder/${n} ${'x'.repeat(400)}`;
			const entry: AuditEntry = {
				action: 'createFolder',
				user: name,
				userId: name,
				address: '2001:db8::1',
				path,
				outcome: 'ok',
			};
			throttle.write({ entry, count: 1, first: 0, last: 0 });
		}
		throttle.endAll();
		written.push({ at: day * dayMs, bytes });
		total += bytes;
		t.true(day > 1 || bytes > share / 10, 'a new server has its budget');
	}
	t.true(total < share, `${total} of ${share} bytes`);
});

test('a server begins with the budget that the files of the log leave', async (t) => {
	const now = () => Date.parse('2031-02-03T04:05:06Z');
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(dataDir, { recursive: true }));
	await mkdir(path.join(dataDir, 'audit'));
	const linesAfter = async (bytes: number) => {
		await writeFile(path.join(dataDir, 'audit/2031-02-02.jsonl'), 'x'.repeat(bytes));
		const audit = createAudit({
			config: {
				audit: { record: 'changes', keepFor: 90 * dayMs, maxSize: 16 * 1024 * 1024 },
				...{ dataDir, node: '', databaseUrl: `sqlite:${dataDir}/stowage.db`, workers: 1 },
			},
			...{ log: pino({ level: 'silent' }), now, monotonic: () => 1000, bytesSent: () => 0 },
		});
		await audit.sweep({ byAge: true });
		const viewer = { kind: 'user' as const, id: 'ada', username: 'ada' };
		for (let n = 0; n < 200; n++)
			audit.record({ action: 'createFolder', viewer, area: 'private', path: `folder ${n}` }, { outcome: 'ok' });
		await audit.close();
		const file = path.join(dataDir, 'audit/2031-02-03.jsonl');
		const lines = (await readFile(file, 'utf8')).trimEnd().split('\n').length;
		await rm(file);
		return lines;
	};
	t.is(await linesAfter(1000), 200);
	t.true((await linesAfter(3 * 1024 * 1024)) < 20);
});

/** Nodes over one database server whose audit logs are in one folder, and how much each of them has written there. */
async function nodesOfOneFolder(t: ExecutionContext) {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(dataDir, { recursive: true }));
	const clock = { now: Date.parse('2031-02-03T04:05:06Z'), monotonic: 1000 };
	const start = async (node: string) => {
		const audit = createAudit({
			config: {
				audit: { record: 'changes', keepFor: 90 * dayMs, maxSize: 16 * 1024 * 1024 },
				...{ dataDir, node, databaseUrl: 'mysql://127.0.0.1/stowage', workers: 1 },
			},
			...{ log: pino({ level: 'silent' }), now: () => clock.now, monotonic: () => clock.monotonic },
			bytesSent: () => 0,
		});
		await audit.sweep({ byAge: true });
		return audit;
	};
	const flood = async (audit: Audit, user: string, lines = 2000) => {
		for (let n = 0; n < lines; n++) {
			const viewer = { kind: 'user' as const, id: `${user}${n % 60}`, username: `${user}${n % 60}` };
			const at = `folder ${n} ${'x'.repeat(400)}`;
			audit.record({ action: 'createFolder', viewer, area: 'private', path: at }, { outcome: 'ok' });
			if (n % 100 === 0) await turn();
		}
	};
	const bytes = async (of: string) => {
		const names = (await readdir(path.join(dataDir, 'audit'))).filter((name) => name.includes(of));
		const files = names.map((name) => readFile(path.join(dataDir, 'audit', name)));
		return (await Promise.all(files)).reduce((sum, { length }) => sum + length, 0);
	};
	return { clock, start, flood, bytes };
}

test('a node that gets another name with each restart goes on with the budget that all nodes have left', async (t) => {
	const { start, flood, bytes } = await nodesOfOneFolder(t);
	const written: number[] = [];
	for (const node of ['one', 'two', 'three', 'four']) {
		const audit = await start(node);
		await flood(audit, node);
		await audit.close();
		written.push(await bytes(node));
	}
	const [first = 0, second = 0, ...others] = written;
	t.true(first > 500_000, `${written}`);
	t.true(second < first / 2, `${written}`);
	for (const each of others) t.true(each < first / 6, `${written}`);
});

test('nodes with one data folder share the budgets, also while all of them work', async (t) => {
	const { clock, start, flood, bytes } = await nodesOfOneFolder(t);
	const [one, two] = [await start('one'), await start('two')];
	await flood(one, 'ada');
	clock.monotonic += 30_000;
	clock.now += 30_000;
	two.record({ action: 'settings' }, { outcome: 'ok' });
	await two.sweep({ byAge: true });
	await flood(two, 'bob');
	await Promise.all([one.close(), two.close()]);
	const written = [await bytes('one'), await bytes('two')] as const;
	t.true(written[0] > 500_000, `${written}`);
	t.true(written[1] > 0 && written[1] < written[0] / 2, `${written}`);
});

test('whoever has their own trash give way again and again takes no line from what others lose by it', async (t) => {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(dataDir, { recursive: true }));
	const audit = createAudit({
		config: {
			audit: { record: 'changes', keepFor: 90 * dayMs, maxSize: 16 * 1024 * 1024 },
			...{ dataDir, node: '', databaseUrl: `sqlite:${dataDir}/stowage.db`, workers: 1 },
		},
		...{ log: pino({ level: 'silent' }), now: Date.now, monotonic: () => 1000, bytesSent: () => 0 },
	});
	const gone = { action: 'purgeTrash', detail: 'space', isConsequence: true } as const;
	for (let n = 1; n <= 2000; n++) {
		// An account that has another name by now.
		audit.record({ ...gone, accountId: 'eve', entries: n }, { outcome: 'ok' });
		// What was equal within a minute is no more.
		if (n % 5 === 0) await audit.sweep({ byAge: true });
	}
	for (let n = 1; n <= 5; n++)
		for (let account = 1; account <= 12; account++)
			audit.record({ ...gone, account: `user${account}`, entries: n }, { outcome: 'ok' });
	audit.record({ ...gone, owner: anonymousOwner }, { outcome: 'ok' });
	audit.record({ ...gone, detail: 'expired', entries: 7 }, { outcome: 'ok' });
	await audit.close();
	const records: AuditRecord[] = [];
	for await (const record of readAudit(dataDir, {})) records.push(record);
	const ofOthers = records.filter(({ account }) => account?.startsWith('user'));
	t.is(ofOthers.length, 60);
	t.is(records.filter(({ owner }) => owner === anonymousOwner).length, 1);
	t.like(
		records.find(({ detail }) => detail === 'expired'),
		{ entries: 7, requests: undefined },
	);
	t.true(ofOthers.every(({ requests }) => requests === undefined));
	t.true(records.length < 1000);
});

test('the sum of a flood from many addresses of one network names the network', (t) => {
	const log = simulation(1000);
	const guess = (address: string) =>
		log.write({ action: 'signInFailed', outcome: 'refused', reason: 'wrong', user: null, address });
	for (let n = 0; n < 3000; n++) guess(`2001:db8:1:2:${(n % 200).toString(16)}::9`);
	const written = log.sums();
	t.true(written.length < 12, `${written.length}`);
	t.true(written.every(({ address }) => address?.startsWith('2001:db8:1:2:')));
	t.true(written.some(({ address, requests = 0 }) => address === '2001:db8:1:2::/64' && requests > 1000));
});

/** An address of the IPv6 /48 of one customer, each time in another /64. */
const siteAddresses = () => {
	let network = 0;
	return () => `2001:db8:1:${(network++ % 65_536).toString(16)}::1`;
};

test('one customer with all networks of an IPv6 site takes from nobody the lines of visits, nor their names', async (t) => {
	const log = simulation(maxSize);
	const address = siteAddresses();
	const visit = { outcome: 'ok', user: null, area: 'private', owner: 'ada', link: '7' } as const;
	const path = `${'d'.repeat(200)}/`.repeat(18);
	for (let n = 0; n < 8_300; n++)
		log.write({ action: 'upload', outcome: 'refused', reason: 'forbidden', user: null, path, address: address() });
	t.true(log.bytes.visits < maxSize * auditShares.visits * 0.06, `${log.bytes.visits}`);
	const written: AuditEntry[] = [];
	await log.pass((quarter) => {
		for (let n = 0; n < 5_130; n++) {
			log.write({ action: 'followLink', ...visit, path: 'films/a.mkv', address: address() });
			if (n !== 4_000) continue;
			const entry = { action: 'followLink', ...visit, path: 'films/a.mkv', address: `198.51.100.${quarter}` } as const;
			written.push(...log.writtenOf(entry));
		}
	}, 24);
	t.is(written.length, 24);
});

test('what the networks of a site do is counted for the site, and takes no sum of anybody else its name', async (t) => {
	const log = simulation(1000);
	const address = siteAddresses();
	const guess = (from: string) =>
		log.write({ action: 'signInFailed', outcome: 'refused', reason: 'wrong', user: null, address: from });
	for (let n = 0; n < 20_000; n++) {
		guess(address());
		if (n % 100 === 0) guess('198.51.100.9');
	}
	const sums = log.sums();
	const requestsOf = (from: string) =>
		sums.filter(({ address: of }) => of === from).reduce((sum, { requests = 1 }) => sum + requests, 0);
	t.true(requestsOf('2001:db8:1::/48') > 15_000);
	t.true(requestsOf('198.51.100.9') > 0);
	t.false(sums.some(({ address: of }) => of === undefined));
	t.true(sums.length < 40, `${sums.length}`);
});

/** A refused upload at a path of so many bytes, from the address of that number. */
const refused = (n: number, bytes: number): AuditEntry => ({
	...{ action: 'upload', outcome: 'refused', reason: 'forbidden', user: null },
	...{ path: `${'d'.repeat(99)}/`.repeat(bytes / 100), address: `198.51.${Math.floor(n / 250)}.${n % 250}` },
});

test('the first line of a source is cut where there is not plenty of room for long ones', (t) => {
	const log = simulation(4 * 1024 ** 2);
	for (let n = 0; n < 100; n++) log.write(refused(n, 3_600));
	const before = log.bytes.visits;
	for (let n = 100; n < 200; n++) t.is(log.writtenOf(refused(n, 3_600)).length, 1);
	t.true((log.bytes.visits - before) / 100 < 700, `${before} ${log.bytes.visits}`);
});

test('a line of one event whose path is cut does not name a folder above as what was changed', (t) => {
	const log = simulation(4 * 1024 ** 2);
	const within = 'd'.repeat(150);
	const removed = (n: number): AuditEntry => ({
		...{ action: 'delete', outcome: 'ok', user: `user ${n}`, userId: `${n}` },
		...{ area: 'private', path: `${within}/${'e'.repeat(800)}` },
	});
	const lines = Array.from({ length: 1500 }, (_, n) => log.writtenOf(removed(n))).flat();
	const sums = log.sums().filter(({ requests }) => requests === undefined);
	for (const { path } of [...lines, ...sums]) t.true(path === removed(0).path || path?.endsWith('e…'), path);
	t.true(lines.some(({ path }) => path?.endsWith('…')));
	// Of several the folder says where all of them are.
	for (let n = 0; n < 1000; n++) log.write(removed(7));
	t.true(log.sums().every(({ path, requests }) => requests === undefined || path === within));
});

test('sources that were forgotten for others are not new again', (t) => {
	const log = simulation(maxSize);
	for (let n = 0; n < 6_000; n++) log.write(refused(n, 400));
	const before = log.bytes.visits;
	t.true(before > 6_000 * 400 * 0.8);
	for (let n = 0; n < 6_000; n++) log.write(refused(n, 400));
	t.true(log.bytes.visits < before * 1.05, `${before} ${log.bytes.visits}`);
});

test('a log whose size can’t be read is told from one that is not there', async (t) => {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(dataDir, { recursive: true }));
	const errorsOf = async () => {
		const lines: string[] = [];
		const audit = createAudit({
			config: {
				audit: { record: 'changes', keepFor: 90 * dayMs, maxSize: 16 * 1024 * 1024 },
				...{ dataDir, node: '', databaseUrl: `sqlite:${dataDir}/stowage.db`, workers: 1 },
			},
			...{ log: pino({ level: 'error' }, { write: (line: string) => lines.push(line) }) },
			...{ now: Date.now, monotonic: () => 1000, bytesSent: () => 0 },
		});
		await audit.close();
		return lines;
	};
	t.deepEqual(await errorsOf(), []);
	await symlink('audit', path.join(dataDir, 'audit'));
	const [line = '', ...others] = await errorsOf();
	t.like(JSON.parse(line), {
		msg: 'the size of the audit log is not known: its budgets begin anew',
		err: { code: 'ELOOP' },
	});
	t.deepEqual(others, []);
});

test('an account whose budget was used up from many addresses hides no change of its password by that', (t) => {
	const log = simulation(1000);
	const ada = { user: 'ada', userId: '1', outcome: 'ok' } as const;
	for (let n = 0; n < 2000; n++) log.write({ action: 'signIn', ...ada, address: `2001:db8::${n % 50}` });
	const entry = { action: 'password', ...ada, account: 'ada', address: '2001:db8::99' } as const;
	t.deepEqual(log.writtenOf(entry), [], 'it waits for others');
	t.deepEqual(
		log.sums().find(({ action }) => action === 'password'),
		entry,
	);
});

test('the administrator’s orders are always recorded in detail', (t) => {
	const log = simulation(1000);
	const order = { action: 'setQuota', outcome: 'ok', actor: 'administrator', account: 'ada' } as const;
	for (let n = 0; n < 5000; n++) t.deepEqual(log.writtenOf(order), [order]);
});

test('above the budget of an account its actions are counted, with the folder that they have in common and no name that is not true of all', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-audit-'));
	t.teardown(() => rm(folder, { recursive: true }));
	const fail = (error: unknown) => t.fail(String(error));
	const audit = new AuditFile(path.join(folder, 'audit'), 'changes', { onError: fail, onRecovered: fail });
	let now = Date.parse('2031-02-03T04:00:00Z');
	const throttle = createLineThrottle({
		config: { audit: { record: 'changes', keepFor: 90 * dayMs, maxSize: 1000 }, workers: 1 },
		monotonic: () => 0,
		write: (_of, entry) => audit.append(auditLine(now, entry), now),
		bytesOf: (entry) => Buffer.byteLength(auditLine(now, entry)),
	});
	const ada = { user: 'ada', userId: '1', address: '127.0.0.1', area: 'private', outcome: 'ok' } as const;
	for (let n = 0; n < 2000; n++) {
		now += 1;
		const entry = { action: 'delete', ...ada, path: `photos/${n % 2}/${n}`, request: String(n), bytes: 1 } as const;
		throttle.write({ entry, count: 1, first: now, last: now });
	}
	now += quarterMs;
	throttle.endAll();
	await audit.close();
	const read = async (query: Parameters<typeof readAudit>[1]) => {
		const found: AuditRecord[] = [];
		for await (const record of readAudit(folder, query)) found.push(record);
		return found;
	};
	const sum = (await read({})).at(-1);
	const lines = (await read({})).length - 1;
	t.true(lines > 100 && lines < 1000, `${lines}`);
	t.deepEqual(sum, {
		...{ time: '2031-02-03T04:15:02.000Z', action: 'delete', ...ada, path: 'photos', bytes: 2000 - lines },
		...{ requests: 2000 - lines, first: new Date(Date.parse('2031-02-03T04:00:00Z') + lines + 1).toISOString() },
		last: '2031-02-03T04:00:02.000Z',
	});
	t.deepEqual((await read({ path: 'photos/1/1999' })).at(-1), sum, 'a path in that folder finds the sum');
	t.deepEqual(await read({ path: 'music' }), []);
	const at = Date.parse('2031-02-03T04:00:02Z');
	t.is((await read({ since: at })).length, 1, 'a sum counts for the time of its events');
	t.deepEqual((await read({ until: at })).at(-1), sum);
});

test('what the administrator does on behalf of a user names the user as the account that it is done to', (t) => {
	const ada = { kind: 'user', id: '1', username: 'ada' } as const;
	const ordered = { actor: 'administrator', systemUser: 'eve', uid: 0 } as const;
	const ok = { outcome: 'ok' } as const;
	const link = auditEntry({ action: 'createLink', viewer: ada, path: 'a' }, ok, ordered);
	const whose = { account: 'ada', accountId: '1' };
	t.deepEqual(link, { action: 'createLink', ...ok, ...ordered, ...whose, path: 'a' });
	const moved = auditEntry({ action: 'jobEnd', actor: 'administrator' }, ok, { user: 'ada', userId: '1', job: '2' });
	t.deepEqual(moved, { action: 'jobEnd', ...ok, job: '2', ...whose, actor: 'administrator' });
});

test('an event that waits for equal ones takes not much more memory than a line, however long the paths are that a visitor names', (t) => {
	const at = (n: number) => `${n}/${'x'.repeat(200)}`.repeat(19);
	const entry = auditEntry(
		{ action: 'downloadArchive', area: 'public', paths: [1, 2, 3, 4, 5].map(at) },
		{ outcome: 'refused', reason: 'notFound' },
		{ user: null, address: '198.51.100.7' },
	);
	const waiting = bounded({ entry, count: 1, first: 0, last: 0 });
	t.true(JSON.stringify(entry).length > 4 * maxLineBytes);
	t.true(JSON.stringify(waiting).length <= maxLineBytes);
	t.like(waiting.entry, { action: 'downloadArchive', outcome: 'refused', address: '198.51.100.7' });
	const short = { entry: { ...entry, paths: ['a'] }, count: 1, first: 0, last: 0 };
	t.is(bounded(short), short);
});
