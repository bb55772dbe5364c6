import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Database, openDatabase } from '@stowage/database';
import type { EventStore, Notification } from '@stowage/plugin-api';
import { Failure, parsePath, type StoragePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createNotifications } from '../../src/events/notifications.js';
import { EventRelay } from '../../src/events/relay/EventRelay.js';
import { SiblingEvents } from '../../src/events/SiblingEvents.js';
import type { SiblingListeners, Siblings } from '../../src/events/siblings.js';
import { createLog } from '../../src/log.js';
import type { NodeChanges } from '../../src/search/NodeChanges.js';

const ticket = (token: string, sent: number): Notification => ({
	...{ kind: 'ticket', ticket: token, sent, size: 9 },
	state: sent === 9 ? 'done' : 'sending',
});

/** Relays of several processes over one database, with a clock that only the test advances. */
async function site(t: ExecutionContext) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-relay-'));
	const clock = { now: Date.UTC(2030, 0, 1) };
	const database: Database = await openDatabase(`sqlite:${folder}/stowage.db`, { now: () => clock.now });
	const relays: EventRelay[] = [];
	const ended = new Set<string>();
	t.teardown(async () => {
		await Promise.all(relays.map((relay) => relay.close()));
		await database.close();
		await rm(folder, { recursive: true, force: true });
	});
	const machine = new Map<string, SiblingListeners>();
	/** What a primary process does, for those of one machine. */
	const siblingsOf = (own: string): Siblings => ({
		join(name, listeners) {
			const others = [...machine.values()];
			machine.set(name, listeners);
			for (const other of others) other.onJoined(name);
		},
		send(messages, to) {
			for (const [name, { onMessages }] of machine)
				if (name !== own && (to === undefined || to === name)) onMessages(structuredClone(messages));
		},
		get names() {
			return new Set([...machine.keys()].filter((name) => name !== own));
		},
		isLeader: false,
	});
	interface Joining {
		secret?: string;
		store?: EventStore;
		isSibling?: boolean;
		nodeChanges?: ConstructorParameters<typeof EventRelay>[0]['nodeChanges'];
	}
	const join = (name: string, joining: Joining = {}) => {
		const { secret = 'shared', store = database.events, isSibling = false, nodeChanges } = joining;
		const siblings = isSibling ? new SiblingEvents(siblingsOf(name)) : undefined;
		const polled = new Set<StoragePath>();
		const folders: StoragePath[] = [];
		let added = 0;
		const local = createNotifications(() => clock.now);
		const relay = new EventRelay({
			store: {
				...store,
				add: async (process, events) => {
					added += events.length;
					await store.add(process, events);
				},
			},
			identity: { name, hasEnded: async (other) => ended.has(other) },
			secret,
			databaseReserve: { assertRoom: async () => {} },
			notifications: local,
			...(siblings === undefined ? {} : { siblings }),
			...(nodeChanges === undefined ? {} : { nodeChanges }),
			folders: () => ({ hasPolled: () => polled.size > 0, notifyRemoteChange: (folder) => folders.push(folder) }),
			monotonic: () => clock.now,
			log: createLog('silent'),
		});
		relays.push(relay);
		siblings?.join(name);
		const notifications = relay.notifications();
		return {
			relay,
			polled,
			/** Folders of whose changes it was notified. */
			folders,
			rowsAdded: () => added,
			publish: (token: string, sent: number) => {
				notifications.publish({ ticket: token }, ticket(token, sent));
				notifications.publish({ userId: 'ada' }, ticket(token, sent));
			},
			changeTrash: (userId: string) => notifications.publish({ userId }, { kind: 'trash' }),
			changeShared: (userId: string) => notifications.publish({ userId }, { kind: 'shared' }),
			/** Subscribes as a page of this process does, and collects what it receives. */
			open(audience: { userId: string } | { ticket: string }) {
				const received: number[] = [];
				const kinds: string[] = [];
				const close = notifications.subscribe(audience, (item) => {
					kinds.push(item.kind);
					if (item.kind === 'ticket') received.push(item.sent);
				});
				return { received, kinds, close };
			},
		};
	};
	const ticks = async (...some: { relay: EventRelay }[]) => {
		// A poll that is already under way may miss events that were stored meanwhile.
		for (const { relay } of some) for (let polls = 0; polls < 2; polls++) await relay.tick();
	};
	return { database, clock, ended, join, ticks };
}

test('a page gets events of a ticket at another process at most once a poll, always the last state, and none twice', async (t) => {
	const { join, ticks } = await site(t);
	const [a, b] = [join('a'), join('b')];
	const owner = b.open({ userId: 'ada' });
	const holder = b.open({ ticket: 'secret' });
	const sameProcess = a.open({ userId: 'ada' });
	const another = b.open({ userId: 'bob' });
	await ticks(b);
	await ticks(a);
	for (const sent of [1, 2, 3, 9]) a.publish('secret', sent);
	await ticks(a, b, a, b);
	for (const { received } of [owner, holder]) {
		t.is(received.at(-1), 9);
		t.is(received.filter((sent) => sent === 9).length, 1);
		t.true(received.length <= 2, 'the first, which was sent at once, and the last');
	}
	t.deepEqual(sameProcess.received, [1, 2, 3, 9], 'events of its own process arrive directly, and once');
	t.deepEqual(another.received, []);
});

test('a page is notified of folders that were shared with its user at another process', async (t) => {
	const { join, ticks } = await site(t);
	const [a, b] = [join('a'), join('b')];
	const member = b.open({ userId: 'bob' });
	const other = b.open({ userId: 'carol' });
	await ticks(b, a);
	a.changeShared('bob');
	a.changeTrash('bob');
	await ticks(a, b);
	t.deepEqual(member.kinds.toSorted(), ['shared', 'trash']);
	t.deepEqual(other.kinds, []);
});

test('a page is notified of a trash that was changed at another process, once for all changes between two polls', async (t) => {
	const { join, ticks } = await site(t);
	const [a, b] = [join('a'), join('b')];
	const [owner, another, sameProcess] = [
		b.open({ userId: 'ada' }),
		b.open({ userId: 'bob' }),
		a.open({ userId: 'ada' }),
	];
	await ticks(b);
	await ticks(a);
	for (let n = 0; n < 9; n++) a.changeTrash('ada');
	await ticks(a, b, a, b);
	t.is(sameProcess.kinds.length, 9);
	t.true(owner.kinds.length > 0 && owner.kinds.length <= 2, `${owner.kinds.length} of 9`);
	t.deepEqual([...new Set(owner.kinds)], ['trash']);
	t.deepEqual(another.kinds, []);
});

test('processes behind one primary process tell each other at once, and store nothing', async (t) => {
	const { join, ticks } = await site(t);
	const [a, b] = [join('a', { isSibling: true }), join('b', { isSibling: true })];
	const page = b.open({ userId: 'ada' });
	b.polled.add(parsePath('Public'));
	await ticks(b);
	a.publish('secret', 3);
	await Promise.resolve();
	t.deepEqual(page.received, [3], 'before any poll');
	for (let sent = 4; sent <= 9; sent++) a.publish('secret', sent);
	a.relay.relayChange(parsePath('Public'));
	a.changeTrash('ada');
	await ticks(a);
	await a.relay.close();
	t.deepEqual(page.received, [3, 9], 'of several in a moment the last');
	t.deepEqual(b.folders, [parsePath('Public')]);
	t.deepEqual(page.kinds, ['ticket', 'ticket', 'trash']);
	t.is(a.rowsAdded(), 0);
	const later = join('c', { isSibling: true });
	const late = later.open({ ticket: 'secret' });
	await Promise.resolve();
	t.deepEqual(late.received, [9], 'one that begins later gets the last state');
});

test('a process without other subscribed processes stores no events of its tickets or folders', async (t) => {
	const { join, ticks, database, ended } = await site(t);
	const [a, idle, crashed] = [join('a'), join('idle'), join('crashed')];
	const page = a.open({ userId: 'ada' });
	crashed.open({ userId: 'ada' });
	await ticks(crashed);
	ended.add('crashed');
	for (let sent = 1; sent <= 9; sent++) {
		a.publish('secret', sent);
		a.relay.relayChange(parsePath('Public'));
		await ticks(a, idle);
	}
	t.deepEqual(page.received, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
	t.is(a.rowsAdded(), 0);
	t.deepEqual(await database.events.latest(60_000, 'reader'), []);
	t.deepEqual(await database.events.listeners(60_000, 'crashed'), [{ process: 'a', pollsFolders: false }]);
	page.close();
});

test('a new subscriber at another process gets the states of the last ten minutes, and without subscribers no events are stored', async (t) => {
	const { join, ticks, clock } = await site(t);
	const [a, b] = [join('a'), join('b')];
	a.publish('secret', 9);
	await ticks(a);
	t.is(a.rowsAdded(), 0);
	clock.now += 5 * 60_000;
	const late = b.open({ userId: 'ada' });
	await ticks(b, a, b);
	t.deepEqual(late.received, [9]);
	late.close();
	await ticks(b);
	const before = a.rowsAdded();
	clock.now += 40_000;
	await ticks(b);
	a.publish('secret2', 9);
	await ticks(a);
	t.is(a.rowsAdded(), before);
	const again = b.open({ ticket: 'secret2' });
	await ticks(b, a, b);
	t.deepEqual(again.received, [9]);
	clock.now += 11 * 60_000;
	const c = join('c');
	const tooLate = c.open({ ticket: 'secret2' });
	await ticks(c, a, c);
	t.deepEqual(tooLate.received, []);
});

test('folder changes are stored only if another process polls folders, and only that process is notified', async (t) => {
	const { join, ticks } = await site(t);
	const [a, b, c] = [join('a'), join('b'), join('c')];
	b.open({ userId: 'ada' });
	await ticks(b);
	a.relay.relayChange(parsePath('Public'));
	await ticks(a);
	t.is(a.rowsAdded(), 0);
	c.polled.add(parsePath('Public'));
	c.relay.wake();
	await ticks(c);
	for (let times = 0; times < 50; times++) a.relay.relayChange(parsePath('Public'));
	await ticks(a, c, a, c);
	t.true(c.folders.length >= 1 && c.folders.length <= 2, String(c.folders.length));
	t.is(c.folders.at(-1), parsePath('Public'));
	t.deepEqual(a.folders, []);
});

test('stored events do not reveal tickets, and events that were not sealed with the same secret are dropped', async (t) => {
	const { join, ticks, database } = await site(t);
	const [a, b, foreign] = [join('a'), join('b'), join('foreign', { secret: 'another' })];
	const page = b.open({ userId: 'ada' });
	await ticks(b);
	a.publish('secret', 9);
	await ticks(a);
	const [row] = await database.events.latest(60_000, 'reader');
	if (row === undefined) return t.fail();
	t.notRegex(row.payload, /secret/);
	t.notRegex(Buffer.from(row.payload, 'base64url').toString('latin1'), /secret|ada/);
	const plain = JSON.stringify({ kind: 'notification', audience: { userId: 'ada' }, item: ticket('forged', 5) });
	await database.events.add('forger', [
		{ number: 1, payload: plain },
		{ number: 2, payload: '' },
		{ number: 3, payload: `${row.payload.slice(0, -2)}AA` },
	]);
	foreign.publish('forged', 4);
	await ticks(foreign, b);
	t.deepEqual(page.received, [9]);
});

test('an event that no row has room for holds up none of the others', async (t) => {
	const { join, ticks, database } = await site(t);
	const a = join('a', {
		store: {
			...database.events,
			async add(process, events) {
				// SQLite has no such limit.
				if (events.some(({ payload }) => payload.length > 65_535)) throw new Error('Data too long for a column');
				await database.events.add(process, events);
			},
		},
	});
	const b = join('b');
	const page = b.open({ userId: 'ada' });
	b.polled.add(parsePath('Public'));
	await ticks(b);
	a.relay.relayChange(parsePath(Array.from({ length: 250 }, () => 'x'.repeat(250)).join('/')));
	a.relay.relayChange(parsePath('Public'));
	a.publish('secret', 9);
	await ticks(a, b);
	t.deepEqual(page.received, [9]);
	t.deepEqual(b.folders, [parsePath('Public')]);
});

type IndexPart = ReturnType<NodeChanges['take']>[number];

/** What a process tells and hears for the index of names. */
function indexOf({ canNote = () => true }: { canNote?: () => boolean } = {}) {
	const waiting: IndexPart[] = [];
	const heard: IndexPart[] = [];
	let checks = 0;
	return {
		heard,
		checks: () => checks,
		change: (path: string) => waiting.push([['root', 'rows', parsePath(path)]]),
		nodeChanges: {
			follows: () => true,
			get isWaiting() {
				return waiting.length > 0;
			},
			take: () => waiting.splice(0),
			putBack: (parts: readonly IndexPart[]) => void waiting.unshift(...parts),
			receive: (part: IndexPart) => void heard.push(part),
			async missed() {
				if (!canNote()) throw new Error('The disk is full.');
				checks++;
			},
		},
	};
}

test('what other nodes have changed is told to the index of names, and not what processes beside this one have', async (t) => {
	const { join, ticks } = await site(t);
	const [far, beside, own] = [indexOf(), indexOf(), indexOf()];
	const [a, b, c] = [
		join('far', far),
		join('beside', { ...beside, isSibling: true }),
		join('own', { ...own, isSibling: true }),
	];
	await ticks(a, b, c);
	far.change('of another node');
	beside.change('of a process beside it');
	await ticks(a, b, c, a);
	t.deepEqual(own.heard, [[['root', 'rows', parsePath('of another node')]]]);
	t.deepEqual(far.heard, [[['root', 'rows', parsePath('of a process beside it')]]]);
});

test('a process that may have missed changes of other nodes has all folders compared, as soon as that can be asked for', async (t) => {
	const { join, ticks, clock } = await site(t);
	let isFull = true;
	const index = indexOf({ canNote: () => !isFull });
	const a = join('a', index);
	const b = join('b');
	const page = a.open({ userId: 'ada' });
	await ticks(a, b);
	b.publish('secret', 9);
	await ticks(b, a);
	t.deepEqual(page.received, [9], 'events are exchanged meanwhile');
	t.is(index.checks(), 0);
	isFull = false;
	await ticks(a, a);
	t.is(index.checks(), 1);
	clock.now += 59_000;
	await ticks(a);
	t.is(index.checks(), 1);
	clock.now += 61_000;
	await ticks(a);
	t.is(index.checks(), 2);
});

test('a relay that is closed asks the database nothing any more', async (t) => {
	const { join, database } = await site(t);
	let calls = 0;
	const counted = <T extends unknown[], R>(call: (...words: T) => R) => {
		return (...words: T): R => {
			calls++;
			return call(...words);
		};
	};
	const { add, latest, listen, unlisten, listeners, sweep } = database.events;
	const a = join('a', {
		...indexOf(),
		store: {
			...{ add: counted(add), latest: counted(latest), listen: counted(listen), unlisten: counted(unlisten) },
			...{ listeners: counted(listeners), sweep: counted(sweep) },
		},
	});
	await a.relay.close();
	a.relay.wake();
	await new Promise((resolve) => setImmediate(resolve));
	t.is(calls, 0);
});

test('the last event of a ticket during an outage of the database is delivered once the database is back', async (t) => {
	const { join, ticks, database } = await site(t);
	let isUnavailable = true;
	const a = join('a', {
		store: {
			...database.events,
			async add(process, events) {
				if (isUnavailable) throw new Failure('unavailable', 'The database is unavailable.');
				await database.events.add(process, events);
			},
		},
	});
	const b = join('b');
	const page = b.open({ userId: 'ada' });
	await ticks(b);
	a.publish('secret', 5);
	await ticks(a);
	a.publish('secret', 9);
	await ticks(a, b);
	t.deepEqual(page.received, []);
	isUnavailable = false;
	await ticks(a, b);
	t.deepEqual(page.received, [9]);
});

test('a process removes its old events, and one that stops stores its last event and ends its subscription', async (t) => {
	const { join, ticks, database, clock } = await site(t);
	const [a, b] = [join('a'), join('b')];
	b.open({ userId: 'ada' });
	await ticks(b);
	a.publish('secret', 9);
	await ticks(a);
	t.is((await database.events.latest(60_000, 'reader')).length, 2);
	clock.now += 95_000;
	await ticks(a);
	t.deepEqual(await database.events.latest(200_000, 'reader'), []);
	await ticks(b);
	a.publish('secret', 9);
	await a.relay.close();
	t.is((await database.events.latest(60_000, 'reader')).length > 0, true, 'the last event of a process that stops');
	await b.relay.close();
	t.deepEqual(await database.events.listeners(60_000, 'reader'), []);
});
