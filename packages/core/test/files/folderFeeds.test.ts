import { setTimeout as wait } from 'node:timers/promises';
import { MemoryStorage } from '@stowage/conformance';
import type { FolderListener, Watch } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { pino } from 'pino';
import { checkWatch } from '../../src/trees/feeds/checkWatch.js';
import { feedTimes } from '../../src/trees/feeds/FolderFeed.js';
import { FolderFeeds } from '../../src/trees/feeds/FolderFeeds.js';
import { fingerprintOf } from '../../src/trees/feeds/fingerprint.js';
import { until } from '../until.js';

const p = parsePath;

test('a folder of a storage without notifications is polled, and changes by this server are published at once', async (t) => {
	const storage = new MemoryStorage();
	await storage.makeDirectory(p('docs'));
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }));
	let firstEvents = 0;
	let secondEvents = 0;
	const firstWatch = await feeds.subscribe(p('docs'), () => firstEvents++);
	const secondWatch = await feeds.subscribe(p('docs'), () => secondEvents++);
	await storage.makeDirectory(p('docs/new'));
	feeds.notifyChange(p('docs/new'));
	t.is(firstEvents, 1, 'an item was created');
	feeds.notifyChange(p('docs/new/child'));
	t.is(firstEvents, 2, 'an item count has changed');
	feeds.notifyChange(p('other/new'));
	t.is(firstEvents, 2);
	await until('a poll finds the change', () => firstEvents > 2);
	t.is(firstEvents, 3);
	t.is(secondEvents, 3);
	firstWatch.close();
	await storage.remove(p('docs'));
	await until('the second subscriber is notified of the removal', () => secondEvents > 3);
	t.is(firstEvents, 3, 'closed');
	t.is(secondEvents, 4);
	await storage.makeDirectory(p('docs'));
	await until('the second subscriber is notified of the new folder', () => secondEvents > 4);
	t.is(firstEvents, 3);
	t.is(secondEvents, 5);
	secondWatch.close();
});

test('changes by this server are relayed to other processes, and theirs are published to the subscribers of polled folders', async (t) => {
	const storage = new MemoryStorage();
	await storage.makeDirectory(p('docs'));
	const changed: string[] = [];
	let woken = 0;
	const relay = { relayChange: (folder: string) => changed.push(folder), wake: () => woken++ };
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }), relay);
	feeds.notifyChange(p('docs/deep/new'));
	t.deepEqual(changed, ['docs/deep', 'docs'], 'also without a subscriber at this process');
	feeds.notifyChange(p('new'));
	t.deepEqual(changed, ['docs/deep', 'docs', ''], 'the root only once');
	t.false(feeds.hasPolled());
	let notified = 0;
	const watch = await feeds.subscribe(p('docs'), () => notified++);
	t.true(feeds.hasPolled());
	t.is(woken, 1);
	feeds.notifyRemoteChange(p('docs'));
	feeds.notifyRemoteChange(p('other'));
	t.is(notified, 1);
	t.is(changed.length, 3, 'a change by another process is not relayed back');
	watch.close();
	t.false(feeds.hasPolled());
	const missing = await feeds.subscribe(p('nothing'), () => {});
	t.false(feeds.hasPolled(), 'a missing folder is checked each second anyway');
	missing.close();
});

test('very many missing folders are searched for less often each, and found all the same', async (t) => {
	const storage = new MemoryStorage();
	let searches = 0;
	const { list } = storage;
	storage.list = (path) => {
		searches++;
		return list.call(storage, path);
	};
	const times = { ...feedTimes, searchMs: 50, searchMsPerFeed: 0.5 };
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }), undefined, times);
	let appeared = 0;
	const watches = await Promise.all(
		Array.from({ length: 2000 }, (_, n) => feeds.subscribe(p(`missing ${n}`), () => appeared++)),
	);
	t.is(searches, 2000);
	await storage.makeDirectory(p('missing 7'));
	await wait(250);
	t.true(searches <= 4000, `${searches}: each of few would have been searched for thrice more`);
	await until('it is found', () => appeared === 1);
	for (const watch of watches) watch.close();
});

test('those who wait for folders in one deep folder that is missing share the looks for it', async (t) => {
	const storage = new MemoryStorage();
	const looks = { lists: 0, stats: 0 };
	const { list, stat } = storage;
	storage.list = (path) => {
		looks.lists++;
		return list.call(storage, path);
	};
	storage.stat = (path) => {
		looks.stats++;
		return stat.call(storage, path);
	};
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }), undefined, { ...feedTimes, searchMs: 50 });
	const levels = Array.from({ length: 20 }, (_, n) =>
		p(
			Array(n + 1)
				.fill('a')
				.join('/'),
		),
	);
	const gone = levels.at(-1);
	let appeared = 0;
	const watches = await Promise.all(
		Array.from({ length: 100 }, (_, n) => feeds.subscribe(p(`${gone}/${n}`), () => appeared++)),
	);
	t.is(looks.lists, 100);
	await until('there were several searches', () => looks.stats >= 4);
	t.is(looks.lists, 100, 'none was searched for by itself');
	t.true(looks.stats < 50, `${looks.stats}: a look each would be 400`);
	for (const level of levels) await storage.makeDirectory(level);
	await until('they are searched for themselves', () => looks.lists >= 200);
	await storage.makeDirectory(p(`${gone}/7`));
	await storage.makeDirectory(p(`${gone}/8`));
	await until('they are found', () => appeared === 2);
	for (const watch of watches) watch.close();
});

test('a missing folder is searched for less often where a search takes long', async (t) => {
	const storage = new MemoryStorage();
	let searches = 0;
	let ms = 50;
	const { list } = storage;
	storage.list = async function* (path) {
		searches++;
		await wait(ms);
		yield* list.call(storage, path);
	};
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }), undefined, { ...feedTimes, searchMs: 1 });
	let appeared = 0;
	const watch = await feeds.subscribe(p('missing'), () => appeared++);
	await wait(1200);
	t.true(searches <= 3, `${searches} of 50 ms each in 1.2 s`);
	ms = 0;
	await storage.makeDirectory(p('missing'));
	await until('it is found', () => appeared === 1);
	watch.close();
});

test('a fingerprint changes with any row and does not depend on the order of rows', async (t) => {
	const rows = [1, 2, 3, 4].map((n) => ({ name: `file ${n}`, type: 'file' as const, size: n, mtime: n }));
	const [first, second, ...rest] = rows as [(typeof rows)[0], (typeof rows)[0]];
	const of = (list: typeof rows) =>
		fingerprintOf(
			(async function* () {
				yield list;
			})(),
		);
	const before = await of(rows);
	t.is(await of([...rows].reverse()), before);
	t.not(await of(rest), before);
	t.not(await of([{ ...first, size: second.size }, { ...second, size: first.size }, ...rest]), before);
	t.not(await of([{ ...first, mtime: 9 }, second, ...rest]), before);
	t.not(await of([{ ...first, name: 'file 9' }, second, ...rest]), before);
});

/** A storage of which the system allows no watch until `isAllowed`. */
class LimitedStorage extends MemoryStorage {
	isAllowed = false;

	async watch(_: string, { onLimitReached }: FolderListener): Promise<Watch | undefined> {
		if (this.isAllowed) return { close() {} };
		onLimitReached?.();
		return undefined;
	}
}

test('the log says once that the system allows no more watches, and again after it has allowed one', async (t) => {
	const storage = new LimitedStorage();
	const lines: { remedy?: string }[] = [];
	const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const feeds = new FolderFeeds(() => storage, log);
	const watchOf = async (name: string) => {
		await storage.makeDirectory(p(name));
		return feeds.subscribe(p(name), () => {});
	};
	const watches = [await watchOf('a'), await watchOf('b')];
	t.is(lines.length, 1);
	t.regex(lines[0]?.remedy ?? '', /fs\.inotify\.max_user_watches/);
	storage.isAllowed = true;
	watches.push(await watchOf('c'));
	storage.isAllowed = false;
	watches.push(await watchOf('d'));
	t.is(lines.length, 2);
	t.is(await checkWatch(storage), 'limitReached');
	for (const watch of watches) watch.close();
	t.is(await checkWatch(new MemoryStorage()), 'polled');
});
