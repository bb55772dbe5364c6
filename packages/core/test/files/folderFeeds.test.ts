import { MemoryStorage } from '@stowage/conformance';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { pino } from 'pino';
import { FolderFeeds } from '../../src/files/watching/FolderFeeds.js';
import { fingerprintOf } from '../../src/files/watching/fingerprint.js';
import { until } from '../until.js';

const p = parsePath;

test('a storage that tells of nothing is looked at every five seconds, and told of at once by this server', async (t) => {
	const storage = new MemoryStorage();
	await storage.makeDirectory(p('docs'));
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }));
	let told = 0;
	let toldAgain = 0;
	const watch = await feeds.subscribe(p('docs'), () => told++);
	const second = await feeds.subscribe(p('docs'), () => toldAgain++);
	await storage.makeDirectory(p('docs/new'));
	feeds.publish(p('docs/new'));
	t.is(told, 1, 'made here');
	feeds.publish(p('docs/new/child'));
	t.is(told, 2, 'a count');
	feeds.publish(p('other/new'));
	t.is(told, 2);
	await until('it is found by looking', () => told > 2);
	t.is(told, 3);
	t.is(toldAgain, 3);
	watch.close();
	await storage.remove(p('docs'));
	await until('the other hears that it is gone', () => toldAgain > 3);
	t.is(told, 3, 'closed');
	t.is(toldAgain, 4);
	await storage.makeDirectory(p('docs'));
	await until('the other hears that it is there again', () => toldAgain > 4);
	t.is(told, 3);
	t.is(toldAgain, 5);
	second.close();
});

test('what this server changes is told to the others, and what they change to whoever follows a storage that tells of nothing', async (t) => {
	const storage = new MemoryStorage();
	await storage.makeDirectory(p('docs'));
	const changed: string[] = [];
	let woken = 0;
	const relay = { changedHere: (folder: string) => changed.push(folder), wake: () => woken++ };
	const feeds = new FolderFeeds(() => storage, pino({ level: 'silent' }), relay);
	feeds.publish(p('docs/deep/new'));
	t.deepEqual(changed, ['docs/deep', 'docs'], 'also where nobody here follows it');
	feeds.publish(p('new'));
	t.deepEqual(changed, ['docs/deep', 'docs', ''], 'the root once');
	t.false(feeds.hasPolled());
	let told = 0;
	const watch = await feeds.subscribe(p('docs'), () => told++);
	t.true(feeds.hasPolled());
	t.is(woken, 1);
	feeds.changedElsewhere(p('docs'));
	feeds.changedElsewhere(p('other'));
	t.is(told, 1);
	t.is(changed.length, 3, 'what came from elsewhere is not sent back');
	watch.close();
	t.false(feeds.hasPolled());
	const away = await feeds.subscribe(p('nothing'), () => {});
	t.false(feeds.hasPolled(), 'a folder that is not there is looked for each second anyway');
	away.close();
});

test('a fingerprint changes with any row and not with their order', async (t) => {
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
