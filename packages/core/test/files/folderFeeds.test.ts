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
