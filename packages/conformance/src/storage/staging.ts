import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import {
	body,
	brokenBody,
	names,
	outcomes,
	patternBytes,
	put,
	putFolders,
	type Rule,
	readText,
	refused,
	toPath,
} from './steps.js';

/** Staged files. */
export function stagingRules(assertThat: Rule): void {
	assertThat('a staged file is invisible until it is committed', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('some', ' bytes'), 0);
		t.deepEqual(await names(storage, ''), []);
		t.is(await storage.count(toPath('')), 0);
		const item = await staged.commit(toPath('a'));
		t.like(item, { name: 'a', type: 'file', size: 10 });
		t.deepEqual(await storage.stat(toPath('a')), item);
		t.is(await readText(storage, 'a'), 'some bytes');
	});

	assertThat('bytes are appended and counted', async (t, storage) => {
		const staged = await storage.stage();
		t.is(await staged.size(), 0);
		t.is(await staged.append(body(), 0), 0);
		t.is(await staged.append(body('ab', '', 'c'), 0), 3);
		t.is(await staged.append(body('de'), 3), 5);
		t.is(await staged.size(), 5);
		await staged.commit(toPath('a'));
		t.is(await readText(storage, 'a'), 'abcde');
	});

	assertThat('an append before the end removes the bytes from there on', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('0123456789'), 0);
		t.is(await staged.append(body('x'), 4), 5);
		t.is(await staged.append(body(), 2), 2);
		t.is(await staged.append(body('yz'), 2), 4);
		await staged.commit(toPath('a'));
		t.is(await readText(storage, 'a'), '01yz');
	});

	assertThat('an append past the end is refused and changes nothing', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('abc'), 0);
		await refused(t, 'conflict', () => staged.append(body('x'), 4));
		await refused(t, 'conflict', () => staged.append(body('x'), -1));
		t.is(await staged.size(), 3);
	});

	assertThat('chunks of many sizes are stored in order', async (t, storage) => {
		const bytes = patternBytes(6 * 1024 * 1024 + 5);
		async function* chunks() {
			for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 3) % 200_003) {
				yield bytes.slice(at, at + size);
			}
		}
		const staged = await storage.stage();
		t.is(await staged.append(chunks(), 0), bytes.length);
		await staged.commit(toPath('large'));
		const file = await storage.open(toPath('large'));
		let at = 0;
		for await (const chunk of file.read()) {
			t.true(Buffer.from(bytes.subarray(at, at + chunk.length)).equals(chunk));
			at += chunk.length;
		}
		await file.close();
	});

	assertThat(
		'an append whose body fails keeps the received bytes and throws the error of the body',
		async (t, storage) => {
			const staged = await storage.stage();
			await staged.append(body('before '), 0);
			const broken = new Error('the line went dead');
			t.is(await t.throwsAsync(staged.append(brokenBody(broken, 'the', ' cut'), 7)), broken);
			t.is(await staged.size(), 14);
			t.deepEqual(await names(storage, ''), []);
			await staged.append(body(', after'), 14);
			await staged.commit(toPath('a'));
			t.is(await readText(storage, 'a'), 'before the cut, after');
		},
	);

	assertThat('a staged file is found by its id after a restart', async (t, storage, reopen) => {
		const staged = await storage.stage();
		await staged.append(body('first '), 0);
		await staged.sync();
		const reopened = await reopen();
		const found = await reopened.stage(staged.id);
		t.is(found.id, staged.id);
		t.is(await found.size(), 6);
		await found.append(body('second'), 6);
		await found.commit(toPath('a'));
		t.is(await readText(storage, 'a'), 'first second');
	});

	assertThat('an unknown id of a staged file is refused', async (t, storage) => {
		for (const id of ['', 'unknown', '../../etc/passwd', '.', '..', '__proto__', 'a'.repeat(5000)]) {
			await refused(t, 'notFound', () => storage.stage(id));
		}
	});

	assertThat('a committed file has the given modified time, or else the current time', async (t, storage) => {
		const times = [
			-1_000_000_000_500, -1, 0, 1, 999, 1_600_000_000_000, 1_700_000_000_001, 1_700_000_000_999, 4_000_000_000_123,
		];
		for (const mtime of times) {
			t.is((await put(storage, `at ${mtime}`, 'x', { mtime })).mtime, mtime);
			t.is((await storage.stat(toPath(`at ${mtime}`))).mtime, mtime);
		}
		const before = Date.now();
		const { mtime } = await put(storage, 'now', 'x');
		t.true(mtime > before - 2000 && mtime < Date.now() + 2000);
	});

	assertThat('a commit never replaces anything', async (t, storage) => {
		await put(storage, 'file', 'mine');
		await putFolders(storage, 'folder');
		const staged = await storage.stage();
		await staged.append(body('another'), 0);
		for (const path of ['file', 'folder', '']) await refused(t, 'alreadyExists', () => staged.commit(toPath(path)));
		t.is(await readText(storage, 'file'), 'mine');
		t.is(await storage.count(toPath('folder')), 0);
		await staged.commit(toPath('free'));
		t.is(await readText(storage, 'free'), 'another');
	});

	assertThat('a published file is found by its staged id, and only at its own path', async (t, storage, reopen) => {
		await putFolders(storage, 'folder');
		const staged = await storage.stage();
		await staged.append(body('once'), 0);
		t.is(await storage.findPublished(staged.id, toPath('folder/a')), undefined);
		const item = await staged.commit(toPath('folder/a'));
		await refused(t, 'notFound', () => staged.commit(toPath('folder/a')));
		t.deepEqual(await storage.findPublished(staged.id, toPath('folder/a')), item);
		t.deepEqual(await (await reopen()).findPublished(staged.id, toPath('folder/a')), item);
		await put(storage, 'folder/b', 'other');
		for (const other of ['folder/b', 'folder/c', 'folder', 'nowhere/a', 'folder/b/a', '']) {
			t.is(await storage.findPublished(staged.id, toPath(other)), undefined, other);
		}
		for (const id of ['', 'unknown', '../../etc/passwd']) {
			t.is(await storage.findPublished(id, toPath('folder/a')), undefined, id);
		}
		await storage.remove(toPath('folder/a'));
		t.is(await storage.findPublished(staged.id, toPath('folder/a')), undefined);
		await put(storage, 'folder/a', 'another');
		t.is(await storage.findPublished(staged.id, toPath('folder/a')), undefined);
	});

	assertThat(
		'beforeNaming is called before a staged file has its name, and nothing is published if it fails',
		async (t, storage) => {
			for (const name of ['a', 'a 1']) await put(storage, name);
			const staged = await storage.stage();
			const given: string[] = [];
			const beforeNaming = async (name: string) => {
				given.push(name);
				t.is(await storage.findPublished(staged.id, toPath(name)), undefined);
			};
			t.is((await staged.commit(toPath('a'), { otherNames: ['a 1', 'a 2'], beforeNaming })).name, 'a 2');
			t.is(given.at(-1), 'a 2');
			const other = await storage.stage();
			const broken = new Error('it could not be recorded');
			t.is(await t.throwsAsync(other.commit(toPath('b'), { beforeNaming: () => Promise.reject(broken) })), broken);
			t.deepEqual(await names(storage, ''), ['a', 'a 1', 'a 2']);
			t.is((await other.commit(toPath('b'))).name, 'b');
		},
	);

	assertThat('a committed file cannot be committed again, appended to or discarded', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('final'), 0);
		await staged.commit(toPath('a'));
		await refused(t, 'notFound', () => staged.commit(toPath('b')));
		await refused(t, 'notFound', () => staged.append(body('more'), 5));
		await refused(t, 'notFound', () => staged.size());
		await staged.discard();
		t.is(await readText(storage, 'a'), 'final');
		t.deepEqual(await names(storage, ''), ['a']);
	});

	assertThat('a commit does not mistake another file at its path for its own', async (t, storage) => {
		const staged = await storage.stage();
		await staged.commit(toPath('a'));
		await storage.remove(toPath('a'));
		await refused(t, 'notFound', () => staged.commit(toPath('a')));
		await put(storage, 'a', 'another');
		await refused(t, 'notFound', () => staged.commit(toPath('a')));
		t.is(await readText(storage, 'a'), 'another');
	});

	assertThat('a discarded file cannot be used', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('unwanted'), 0);
		await staged.discard();
		await staged.discard();
		await refused(t, 'notFound', () => staged.size());
		await refused(t, 'notFound', () => staged.append(body('x'), 0));
		await refused(t, 'notFound', () => staged.sync());
		await refused(t, 'notFound', () => staged.commit(toPath('a')));
		t.deepEqual(await names(storage, ''), []);
	});

	assertThat('unused staged files are swept', async (t, storage) => {
		const staged = await storage.stage();
		await staged.append(body('kept'), 0);
		await put(storage, 'published', 'text');
		const later = Date.now() + 60_000;
		const unused = async () => false;
		await storage.sweepStaging({ staged: 0, copies: 0 }, unused);
		t.is(await staged.size(), 4);
		await storage.sweepStaging({ staged: later, copies: 0 }, async (id) => id === staged.id);
		t.is(await staged.size(), 4);
		await storage.sweepStaging({ staged: later, copies: 0 }, unused);
		await refused(t, 'notFound', () => staged.size());
		t.is(await readText(storage, 'published'), 'text');
	});

	assertThat('an empty append counts as a use, and changes nothing', async (t, storage) => {
		const [used, unused] = [await storage.stage(), await storage.stage()];
		for (const staged of [used, unused]) await staged.append(body('kept'), 0);
		// Some file systems round times.
		await wait(20);
		const between = Date.now();
		await wait(20);
		t.is(await used.append(body(), 4), 4);
		await storage.sweepStaging({ staged: between, copies: 0 }, async () => false);
		await refused(t, 'notFound', () => unused.size());
		await used.commit(toPath('a'));
		t.is(await readText(storage, 'a'), 'kept');
	});

	assertThat('a second writer is refused while another one is writing', async (t, storage) => {
		const staged = await storage.stage();
		const otherWriter = await storage.stage(staged.id);
		let resume = () => {};
		const pause = new Promise<void>((resolve) => {
			resume = resolve;
		});
		let started = () => {};
		const start = new Promise<void>((resolve) => {
			started = resolve;
		});
		async function* slowBody() {
			started();
			await pause;
			yield* body('slow');
		}
		const appending = staged.append(slowBody(), 0);
		await start;
		await refused(t, 'locked', () => otherWriter.append(body('quick'), 0));
		await refused(t, 'locked', () => otherWriter.commit(toPath('a')));
		resume();
		t.is(await appending, 4);
		await otherWriter.commit(toPath('a'));
		t.is(await readText(storage, 'a'), 'slow');
	});

	assertThat('a locked staged file refuses other writers, also between the calls', async (t, storage, reopen) => {
		const staged = await storage.stage();
		if (staged.lock === undefined) {
			t.pass('not supported by this storage');
			return;
		}
		const lock = await staged.lock();
		await refused(t, 'locked', async () => staged.lock?.());
		const elsewhere = await (await reopen()).stage(staged.id);
		await staged.append(body('mine'), 0);
		await refused(t, 'locked', async () => elsewhere.lock?.());
		await staged.sync();
		t.is(await elsewhere.size(), 4);
		await staged.append(body(' alone'), 4);
		lock.release();
		const next = await elsewhere.lock?.();
		lock.release();
		await refused(t, 'locked', async () => staged.lock?.());
		await elsewhere.commit(toPath('a'));
		next?.release();
		t.is(await readText(storage, 'a'), 'mine alone');
		await refused(t, 'notFound', async () => staged.lock?.());
	});

	assertThat(
		'a fork of a staged file has its first bytes, also while another writer holds the lock',
		async (t, storage) => {
			const staged = await storage.stage();
			if (staged.lock === undefined || staged.fork === undefined) {
				t.pass('not supported by this storage');
				return;
			}
			await staged.append(body('kept, and more'), 0);
			const lock = await staged.lock();
			const fork = await staged.fork(4);
			t.not(fork.id, staged.id);
			await staged.discard();
			await refused(t, 'notFound', () => staged.append(body('too late'), 4));
			await refused(t, 'notFound', () => staged.commit(toPath('a')));
			lock.release();
			t.is(await fork.append(body(', and gone on'), 4), 17);
			await fork.commit(toPath('a'));
			t.is(await readText(storage, 'a'), 'kept, and gone on');
			await refused(t, 'notFound', async () => staged.fork?.(4));
		},
	);

	assertThat('a program may write a staged file itself, at any position', async (t, storage, reopen) => {
		const staged = await storage.stage();
		if (staged.withLocalFile === undefined) {
			t.pass('not supported by this storage');
			return;
		}
		await staged.append(body('what was there before'), 0);
		const otherWriter = await storage.stage(staged.id);
		const result = await staged.withLocalFile(async ({ descriptor }) => {
			await refused(t, 'locked', () => otherWriter.append(body('quick'), 0));
			await refused(t, 'locked', () => otherWriter.commit(toPath('a')));
			writeSync(descriptor, 'by the descriptor', 0);
			// As a program does that accepts only a file name for its output.
			const reopened = await open(`/proc/self/fd/${descriptor}`, 'w+');
			await reopened.write('....s, and back', 0);
			await reopened.write('goes', 0);
			await reopened.close();
			return 'result';
		});
		t.is(result, 'result');
		t.is(await staged.size(), 15);
		await t.throwsAsync(
			staged.withLocalFile(async () => {
				throw new Error('the program has failed');
			}),
			{ message: 'the program has failed' },
		);
		t.deepEqual(await names(storage, ''), []);
		const found = await (await reopen()).stage(staged.id);
		await found.append(body('!'), 15);
		await found.commit(toPath('a'));
		t.is(await readText(storage, 'a'), 'goess, and back!');
		await refused(t, 'notFound', async () => staged.withLocalFile?.(async () => {}));
	});

	assertThat(
		'only one of many concurrent commits to one name succeeds, and the others lose nothing',
		async (t, storage) => {
			const uploads = await Promise.all(
				Array.from({ length: 8 }, async (_, n) => {
					const staged = await storage.stage();
					await staged.append(body(`upload ${n}`), 0);
					return staged;
				}),
			);
			const results = await outcomes(uploads.map((staged) => staged.commit(toPath('wanted'))));
			t.is(results.filter((result) => result === 'done').length, 1);
			t.is(results.filter((result) => result === 'alreadyExists').length, 7);
			t.is(await readText(storage, 'wanted'), `upload ${results.indexOf('done')}`);
			for (const [n, staged] of uploads.entries()) {
				if (results[n] === 'done') continue;
				await staged.commit(toPath(`other ${n}`));
				t.is(await readText(storage, `other ${n}`), `upload ${n}`);
			}
		},
	);

	assertThat('readers see a complete file or none', async (t, storage) => {
		const content = 'whole '.repeat(50_000);
		let isOver = false;
		const reading = (async () => {
			let seen = 0;
			while (!isOver) {
				for await (const batch of storage.list(toPath(''))) {
					for (const row of batch) {
						t.is(row.size, content.length);
						const found = await readText(storage, row.name);
						t.is(found.length, content.length);
						seen++;
					}
				}
				await new Promise((resolve) => setImmediate(resolve));
			}
			return seen;
		})();
		for (let n = 0; n < 20; n++) {
			await put(storage, `file ${n}`, content);
			await new Promise((resolve) => setImmediate(resolve));
		}
		isOver = true;
		t.true((await reading) > 0);
	});
}
