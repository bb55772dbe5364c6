import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { LiveProcess, ProcessStore } from '@stowage/plugin-api';
import test from 'ava';
import { startMariadb } from '../../../database/test/mariadb.js';
import { readAudit } from '../../src/audit/readAudit.js';
import { loadConfig } from '../../src/index.js';
import { LiveProcesses } from '../../src/leases/LiveProcesses.js';
import { clockFaults, differingSettings } from '../../src/leases/nodeFaults.js';
import { logLines } from '../logLines.js';
import { memoryStorageFlags } from '../memoryPlugin.js';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const process = (node: string, facts: Partial<LiveProcess> = {}): LiveProcess => ({
	...{
		name: `process of ${node}`,
		node,
		version: '1',
		clockOffset: 0,
		settings: {},
		capabilities: [],
		roots: '',
		ageMs: 0,
	},
	...facts,
});

test('nodes whose clocks differ from those of their databases by more than two seconds are named', (t) => {
	t.deepEqual(clockFaults([process('one'), process('two', { ageMs: 9000 })]), []);
	t.deepEqual(clockFaults([process('one', { clockOffset: 600_000 }), process('two', { clockOffset: -3000 })]), [
		"The clock of node one and that of its database differ: the node's is 600 s ahead.",
		"The clock of node two and that of its database differ: the node's is 3 s behind.",
	]);
	t.deepEqual(clockFaults([process('one', { ageMs: -30_000 }), process('two')]), [
		"The clock of the database of node one is ahead of that of another node's.",
	]);
});

test('settings that differ between nodes are named, but not those that only one version has', (t) => {
	const one = process('one', { settings: { registration: 'a', visitors: 'b', 'old.setting': 'c' } });
	const two = process('two', { settings: { registration: 'x', visitors: 'b', 'new.setting': 'c' } });
	t.deepEqual(differingSettings([one, two]), ['The setting registration differs between node one and node two.']);
	t.deepEqual(differingSettings([one]), []);
});

test('a process whose clock is off says so once, and says when it is right again', async (t) => {
	const { log, lines } = logLines();
	const clock = { offset: 600_000 };
	const rows = new Map<string, LiveProcess>();
	let beats = 0;
	const store = {
		beat: async (facts) => {
			beats++;
			rows.set(facts.name, { ...facts, ageMs: 0 });
		},
		live: async () => [...rows.values()],
		sweep: async () => {},
		remove: async (name) => void rows.delete(name),
		compareClock: async () => ({ offset: clock.offset, uncertainty: 5 }),
	} satisfies Partial<ProcessStore>;
	const config = loadConfig({ flags: { '--node': 'east' } });
	const live = new LiveProcesses({
		...{ config, log, version: '1', beatMs: 5, monotonic: () => performance.now(), capabilities: () => new Map() },
		database: { processes: store as unknown as ProcessStore },
		identity: { name: 'this one', hasEnded: async () => false, canTell: () => false },
	});
	await live.begin();
	t.true(live.isClockOff);
	await until('several beats', () => beats > 3);
	t.is(lines.filter((line) => line.includes('node east')).length, 1);
	clock.offset = 40;
	await until('a clock that is right', () => !live.isClockOff);
	await until('a line in the log', () => lines.some((line) => line.includes('the nodes agree again')));
	await live.close();
	t.is(rows.size, 0);
});

test('what another node can do is offered, and its work is left to it until it has been away for ten minutes', async (t) => {
	const { log } = logLines();
	const clock = { now: 0 };
	const here = { hasEncoder: false };
	const others = new Set([process('east', { capabilities: ['encoder'] })]);
	let beats = 0;
	const store = {
		beat: async () => void beats++,
		live: async () => [...others],
		sweep: async () => {},
		remove: async () => {},
		compareClock: async () => ({ offset: 0, uncertainty: 5 }),
	} satisfies Partial<ProcessStore>;
	const live = new LiveProcesses({
		...{ config: loadConfig(), log, version: '1', beatMs: 5, monotonic: () => clock.now },
		capabilities: () => new Map([['encoder', () => here.hasEncoder]]),
		database: { processes: store as unknown as ProcessStore },
		identity: { name: 'this one', hasEnded: async () => false, canTell: () => false },
	});
	await live.begin();
	t.teardown(() => live.close());
	t.true(live.isOffered('encoder'));
	t.true(live.isAwaited('encoder'));
	others.clear();
	const seen = beats;
	await until('a beat without it', () => beats > seen + 1);
	t.false(live.isOffered('encoder'));
	t.true(live.isAwaited('encoder'), 'it may be starting anew');
	clock.now += 10 * 60_000 - 1;
	t.true(live.isAwaited('encoder'));
	clock.now++;
	t.false(live.isAwaited('encoder'));
	here.hasEncoder = true;
	t.true(live.isOffered('encoder'));
	t.false(live.isAwaited('encoder'));
});

test('what a single process lacks is waited for ten minutes from when it was missed, also over SQLite', async (t) => {
	const { log } = logLines();
	const clock = { now: 0 };
	const here = { hasEncoder: false };
	const live = new LiveProcesses({
		...{ config: loadConfig(), log, version: '1', monotonic: () => clock.now },
		capabilities: () => new Map([['encoder', () => here.hasEncoder]]),
		database: { processes: undefined },
		identity: { name: 'this one', hasEnded: async () => false, canTell: () => false },
	});
	await live.begin();
	t.teardown(() => live.close());
	const isAwaitedAfter = (minutes: number) => {
		clock.now += minutes * 60_000;
		return live.isAwaited('encoder');
	};
	t.deepEqual([isAwaitedAfter(0), isAwaitedAfter(9), isAwaitedAfter(1)], [true, true, false]);
	here.hasEncoder = true;
	t.false(isAwaitedAfter(60));
	here.hasEncoder = false;
	t.deepEqual([isAwaitedAfter(60), isAwaitedAfter(9), isAwaitedAfter(2)], [true, true, false]);
	t.true(isAwaitedAfter(11), 'nobody has asked for it meanwhile');
});

test('what a process can do, and rows of processes that are gone, are looked up more rarely than it beats', async (t) => {
	const { log } = logLines();
	const clock = { now: 0 };
	let looks = 0;
	let sweeps = 0;
	const said: boolean[] = [];
	const store = {
		beat: async ({ capabilities }) => void said.push(capabilities.includes('encoder')),
		live: async () => [],
		sweep: async () => void sweeps++,
		remove: async () => {},
		compareClock: async () => ({ offset: 0, uncertainty: 5 }),
	} satisfies Partial<ProcessStore>;
	const live = new LiveProcesses({
		...{ config: loadConfig(), log, version: '1', beatMs: 5, monotonic: () => clock.now },
		capabilities: () => new Map([['encoder', () => ++looks > 2]]),
		database: { processes: store as unknown as ProcessStore },
		identity: { name: 'this one', hasEnded: async () => false, canTell: () => false },
	});
	await live.begin();
	t.teardown(() => live.close());
	const beats = (count: number) => {
		const before = said.length;
		return until('some beats', () => said.length >= before + count);
	};
	await until('what was found a little after the start is said', () => said.at(-1));
	clock.now += 70_000;
	await beats(3);
	const before = looks;
	await beats(3);
	t.is(looks, before);
	t.true(said.at(-1));
	clock.now += 30_000;
	await beats(3);
	t.is(looks, before + 1);
	t.is(sweeps, 1);
	clock.now += 10 * 60_000;
	await beats(3);
	t.is(sweeps, 2);
});

/** Rows that several processes share, with a clock for their ages. */
function sharedRows() {
	const clock = { ms: 0 };
	const rows = new Map<string, LiveProcess & { at: number }>();
	const writes: string[] = [];
	const looks: string[] = [];
	const storeOf = (name: string) =>
		({
			beat: async (facts) => {
				writes.push(facts.name);
				rows.set(facts.name, { ...facts, ageMs: 0, at: clock.ms });
			},
			live: async (ms) => {
				looks.push(name);
				return [...rows.values()]
					.map((row) => ({ ...row, ageMs: clock.ms - row.at }))
					.filter(({ ageMs }) => ageMs < ms);
			},
			sweep: async () => {},
			remove: async (name) => void rows.delete(name),
			compareClock: async () => ({ offset: 0, uncertainty: 5 }),
		}) satisfies Partial<ProcessStore>;
	const ended = new Set<string>();
	/** `place` is where it can see whether others have ended. */
	const open = (name: string, place: string, { node = place, version = '1' } = {}) =>
		new LiveProcesses({
			...{ config: loadConfig({ flags: { '--node': node } }), log: logLines().log, version, beatMs: 5 },
			...{ monotonic: () => clock.ms, capabilities: () => new Map() },
			database: { processes: storeOf(name) as unknown as ProcessStore },
			identity: {
				name,
				canTell: (other) => other.startsWith(place),
				hasEnded: async (other) => other.startsWith(place) && ended.has(other),
			},
		});
	/** Lets each of these look at the rows several times. */
	const beats = async (...names: string[]) => {
		const from = looks.length;
		await until('some beats', () =>
			names.every((each) => looks.slice(from).filter((name) => name === each).length > 3),
		);
	};
	return { clock, rows, writes, ended, open, beats };
}

test('processes of one machine write nothing while no other one has a row, and go on as soon as one has', async (t) => {
	const { clock, rows, writes, ended, open, beats } = sharedRows();
	const [one, two] = [open('east 1', 'east'), open('east 2', 'east')];
	t.teardown(() => Promise.all([one.close(), two.close()]));
	await one.begin();
	await two.begin();
	await beats('east 1', 'east 2');
	const wrote = writes.length;
	clock.ms += 10 * 60_000;
	await beats('east 1', 'east 2');
	t.is(writes.length, wrote, 'nothing in ten minutes');
	await one.noteRoots('digest');
	t.is(writes.length, wrote + 1, 'but what is new');
	t.deepEqual(await two.withOtherRoots('digest'), []);
	t.deepEqual(await one.withOtherRoots('digest'), ['node east'], 'though its row is old');
	clock.ms += 30 * 60_000;
	await beats('east 1', 'east 2');
	t.deepEqual(
		[...rows.values()].map(({ at }) => at),
		[clock.ms, clock.ms],
		'a row is not forgotten',
	);

	clock.ms += 60_000;
	const other = open('west 1', 'west');
	await other.begin();
	await beats('east 1', 'east 2', 'west 1');
	t.true(one.hasOtherNodes);
	t.true(other.hasOtherNodes);
	clock.ms += 60_000;
	await beats('east 1', 'east 2', 'west 1');
	t.true(
		[...rows.values()].every(({ at }) => at === clock.ms),
		'all write while there are several',
	);
	await other.close();
	await beats('east 1', 'east 2');
	const after = writes.length;
	await beats('east 1', 'east 2');
	t.is(writes.length, after, 'and nothing once it has ended');
	ended.add('east 2');
	clock.ms += 60_000;
	t.deepEqual(await one.withOtherRoots('another digest'), []);
});

test('processes of another version, and of another node, are written for as long as they have rows', async (t) => {
	for (const different of [{ version: '2' }, { node: 'other' }]) {
		const { clock, rows, ended, open, beats } = sharedRows();
		const [one, two] = [open('east 1', 'east'), open('east 2', 'east', different)];
		await one.begin();
		await two.begin();
		clock.ms += 60_000;
		await beats('east 1', 'east 2');
		t.true([...rows.values()].every(({ at }) => at === clock.ms));
		await one.close();
		ended.add('east 1');
		await two.close();
	}
});

test('a command at another machine waits for what those of a quiet one say, and not for one that was killed', async (t) => {
	const { clock, rows, open, beats } = sharedRows();
	const one = open('east 1', 'east');
	t.teardown(() => one.close());
	await one.begin();
	await one.noteRoots('old');
	await beats('east 1');
	clock.ms += 60_000;
	rows.set('south 1', { ...process('south'), name: 'south 1', at: 0 });
	const command = open('west 1', 'west');
	t.deepEqual((await command.withOtherRoots('new')).sort(), ['node east', 'node south'], 'whoever may live');
	await beats('east 1');
	t.deepEqual((await command.withOtherRoots('new')).sort(), ['node east', 'node south']);
	clock.ms += 12_000;
	await beats('east 1');
	t.false(await command.isSilent('south 1'), 'not known for long enough');
	clock.ms += 8_000;
	await beats('east 1');
	t.deepEqual(await command.withOtherRoots('new'), ['node east'], 'who has answered');
	t.deepEqual(
		(await command.othersThatServe()).map(({ name }) => name),
		['east 1'],
	);
	t.true(await command.isSilent('south 1'));
	await command.close();
	t.deepEqual([...rows.keys()].sort(), ['east 1', 'south 1']);
});

test('a command beside a quiet process finds it at once', async (t) => {
	const { clock, rows, ended, open, beats } = sharedRows();
	const one = open('east 1', 'east');
	t.teardown(() => one.close());
	await one.begin();
	await beats('east 1');
	clock.ms += 10 * 60_000;
	const command = open('east 2', 'east');
	t.deepEqual(
		(await command.othersThatServe()).map(({ name }) => name),
		['east 1'],
	);
	t.deepEqual([...rows.keys()], ['east 1'], 'without a row of its own');
	ended.add('east 1');
	t.deepEqual(await command.othersThatServe(), []);
});

test('a process whose row was forgotten takes nobody for silent before they had time to find it again', async (t) => {
	const { clock, rows, open, beats } = sharedRows();
	const [one, two] = [open('east 1', 'east'), open('west 1', 'west')];
	t.teardown(() => Promise.all([one.close(), two.close()]));
	await one.begin();
	await two.begin();
	await beats('east 1', 'west 1');
	// The machine of the other one is suspended for long, and meanwhile this one is quiet.
	const { at: _at, ...row } = rows.get('east 1') as LiveProcess & { at: number };
	await two.close();
	clock.ms += 60 * 60_000;
	rows.clear();
	rows.set('east 1', { ...row, at: clock.ms - 10 * 60_000 });
	t.false(await two.isSilent('east 1'));
	t.deepEqual(await two.withOtherRoots('digest'), ['node east']);
	clock.ms += 19_000;
	t.false(await two.isSilent('west 2'));
	clock.ms += 2_000;
	t.true(await two.isSilent('west 2'));
});

test('a new node knows what a quiet one can do before that has answered', async (t) => {
	const { clock, rows, open, beats } = sharedRows();
	rows.set('south 1', { ...process('south'), name: 'south 1', capabilities: ['zip'], at: 0 });
	clock.ms += 10 * 60_000;
	const one = open('east 1', 'east');
	t.teardown(() => one.close());
	await one.begin();
	t.true(one.isOffered('zip'));
	t.true(one.hasOtherNodes);
	clock.ms += 25_000;
	await beats('east 1');
	t.false(one.isOffered('zip'), 'it was killed');
});

let mariadb: Awaited<ReturnType<typeof startMariadb>>;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

test.serial(
	'a storage root that can’t be shared is used by one node, and by another one once that has ended',
	async (t) => {
		const fault = 'Its file system has no locks.';
		const flags = {
			...(await memoryStorageFlags(t, [fault])),
			...{
				'--database-url': await mariadb.createDatabase(),
				'--session-key': 'one key for both, longer than 32 characters',
			},
		};
		const one = await testApp(t, { ...flags, '--node': 'one' });
		const { log, lines } = logLines();
		const two = await testApp(t, { ...flags, '--node': 'two' }, { log });
		const ready = async (app: TestApp) => json(await new Client(app).get('/api/ready?of=node')).checks.storage;
		t.is(await ready(one), 'ok');
		t.is(await ready(two), 'unavailable');
		const ada = await new Client(one).register('ada');
		t.is((await ada.upload('/api/upload', [file('a.txt', 'kept')])).statusCode, 200);
		const there = new Client(two);
		there.cookie = ada.cookie;
		t.is((await there.get('/api/download/a.txt?type=private')).statusCode, 503);
		const [{ fault: said, sharingFaults } = {}] = await two.services.rootAdministration.list();
		t.is(said, `The storage is not available right now: Node one uses this storage root. ${fault}`);
		t.is(sharingFaults, null);
		t.true(lines.some((line) => line.includes('another node uses this storage root') && line.includes(fault)));
		await one.stop();
		await until('the root is free', async () => (await ready(two)) === 'ok');
		t.is((await there.get('/api/download/a.txt?type=private')).payload, 'kept');
	},
);

test.serial('two nodes over one MariaDB must have one session key, and say which settings differ', async (t) => {
	const databaseUrl = { '--database-url': await mariadb.createDatabase() };
	const key = 'one key for both of these nodes, longer than 32';
	const { log, lines } = logLines();
	const one = await testApp(t, { ...databaseUrl, '--session-key': key, '--node': 'one' });
	await t.throwsAsync(() => testApp(t, { ...databaseUrl, '--session-key': `another ${key}` }), {
		name: 'ConfigError',
		message: /sessionKey/,
	});
	const two = await testApp(
		t,
		{ ...databaseUrl, '--session-key': key, '--node': 'two', '--registration': 'closed' },
		{ log },
	);
	t.true(lines.some((line) => line.includes('The setting registration differs between node one and node two.')));
	const live = await two.services.database.processes?.live(20_000);
	t.deepEqual(
		live?.map(({ node }) => node),
		['one', 'two'],
	);
	const big = await mkdtemp(path.join(os.tmpdir(), 'stowage-nodes-'));
	t.teardown(() => rm(big, { recursive: true, force: true }));
	await one.services.rootAdministration.add('big', 'local', big);
	t.true(
		two.services.roots.records.some(({ name }) => name === 'big'),
		'the other node has read it when the call ends',
	);
	await one.services.audit.sweep({ byAge: true });
	await until('a line of the audit log with its node', async () => {
		for await (const { action, node } of readAudit(one.dataDir, {}))
			if (action === 'addRoot' && node === 'one') return true;
		return false;
	});
	const visitor = new Client(one);
	t.deepEqual(json(await visitor.get('/api/ready?of=node')), {
		status: 'ok',
		checks: { database: 'ok', storage: 'ok', plugins: 'ok', otherStorage: 'ok', clock: 'ok' },
	});
	await mariadb.freeze();
	t.teardown(async () => mariadb.thaw());
	const startedAt = performance.now();
	await until('the node is not ready', async () => (await visitor.get('/api/ready?of=node')).statusCode === 503);
	t.log(`not ready after ${(performance.now() - startedAt).toFixed(0)} ms`);
	mariadb.thaw();
});
