import {
	hasReplace,
	type NamingOptions,
	type StagedFile,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import { joinPath } from '@stowage/rules';
import type { ExecutionContext } from 'ava';
import { body, names, outcomes, p, put, putFolders, type Rule, readBytes, readText, refused } from './steps.js';

/** The three ways to replace a file. */
const ways = ['commit', 'move', 'copy'] as const;

type Way = (typeof ways)[number];

interface Challenger {
	/** Puts it in the place of the version. */
	replace(
		path: string,
		version: string,
		more?: NamingOptions & { beforeNaming?: (name: string) => Promise<void> },
	): Promise<StorageItem>;
	/** Asserts that it is in its former place. */
	assertUntouched(t: ExecutionContext): Promise<void>;
}

async function challenger(storage: StorageProvider, way: Way, content: string, source: string): Promise<Challenger> {
	const options = (version: string, more = {}) => ({ ...more, onConflict: { replace: version } });
	if (way === 'commit') {
		const staged: StagedFile = await storage.stage();
		await staged.append(body(content), 0);
		return {
			replace: (path, version, more) => staged.commit(p(path), options(version, more)),
			async assertUntouched(t) {
				t.is(await (await storage.stage(staged.id)).size(), content.length);
			},
		};
	}
	const item = await put(storage, source, content);
	return {
		replace: (path, version, more) => storage[way](p(source), p(path), options(version, more)),
		async assertUntouched(t) {
			t.is(await readText(storage, source), content);
			if (way === 'copy') t.is((await storage.stat(p(source))).id, item.id);
		},
	};
}

async function canReplace(storage: StorageProvider): Promise<boolean> {
	return hasReplace(storage) && (await storage.canReplace(p('file')));
}

/** Replacing a file by another one. */
export function replacingRules(rule: Rule): void {
	/** For a storage that can't replace, the same for each rule: it refuses, and nothing has changed. */
	const replacing: Rule = (title, check) =>
		rule(title, async (t, storage, again) => {
			if (await canReplace(storage)) return check(t, storage, again);
			const { version } = await put(storage, 'file', 'old');
			for (const way of ways) {
				const own = await challenger(storage, way, 'new', way);
				await refused(t, 'invalid', () => own.replace('file', version));
				await own.assertUntouched(t);
			}
			t.is(await readText(storage, 'file'), 'old');
			t.deepEqual(await names(storage, ''), ['copy', 'file', 'move']);
		});

	replacing('a file replaces the version that is named', async (t, storage, again) => {
		await putFolders(storage, 'folder', 'from');
		for (const way of ways) {
			const old = await put(storage, `folder/${way}`, 'the old one');
			const own = await challenger(storage, way, 'the new one', `from/${way}`);
			const item = await own.replace(`folder/${way}`, old.version);
			t.like(item, { name: way, type: 'file', size: 'the new one'.length });
			t.not(item.id, old.id);
			t.deepEqual(await storage.stat(p(`folder/${way}`)), item);
			const reopened = await again();
			t.deepEqual(await reopened.stat(p(`folder/${way}`)), item);
			t.is(await readText(reopened, `folder/${way}`), 'the new one');
			await refused(t, 'preconditionFailed', async () =>
				(await challenger(storage, way, 'late', `late ${way}`)).replace(`folder/${way}`, old.version),
			);
		}
		t.deepEqual(await names(storage, 'folder'), ['commit', 'copy', 'move']);
		t.deepEqual(await names(storage, 'from'), ['copy']);
	});

	replacing(
		'a moved file keeps its id and time in the place of another one, a copied one its time',
		async (t, storage) => {
			const moved = await put(storage, 'moved', 'new', { mtime: 1_500_000_000_000 });
			const first = await put(storage, 'first', 'old');
			const second = await put(storage, 'second', 'old');
			const copy = await storage.copy(p('moved'), p('first'), { onConflict: { replace: first.version } });
			t.is(copy.mtime, 1_500_000_000_000);
			const item = await storage.move(p('moved'), p('second'), { onConflict: { replace: second.version } });
			t.like(item, { id: moved.id, mtime: 1_500_000_000_000 });
			const staged = await storage.stage();
			const onConflict = { replace: item.version };
			t.is((await staged.commit(p('second'), { mtime: 1_600_000_000_000, onConflict })).mtime, 1_600_000_000_000);
		},
	);

	replacing('another version of the file is not replaced, and nothing changes', async (t, storage) => {
		await putFolders(storage, 'folder', 'other');
		await put(storage, 'folder/kept');
		const folder = await storage.stat(p('folder'));
		const first = await put(storage, 'other/file', 'first');
		await storage.remove(p('other/file'));
		const second = await put(storage, 'other/file', 'second');
		for (const way of ways) {
			const own = await challenger(storage, way, 'mine', way);
			for (const [path, version] of [
				['other/file', first.version],
				['other/file', ''],
				['other/nothing', second.version],
				['folder', folder.version],
				['folder', second.version],
				['', second.version],
			] as const) {
				await refused(t, 'preconditionFailed', () => own.replace(path, version));
				await own.assertUntouched(t);
			}
			await refused(t, 'notFound', () => own.replace('nowhere/file', second.version));
			await own.assertUntouched(t);
		}
		t.deepEqual(await storage.stat(p('other/file')), second);
		t.deepEqual(await names(storage, 'other'), ['file']);
		t.deepEqual(await names(storage, 'folder'), ['kept']);
	});

	replacing('a folder replaces nothing, and no file itself', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/inner');
		const file = await put(storage, 'file', 'mine');
		const onConflict = { replace: file.version };
		await refused(t, 'invalid', () => storage.move(p('folder'), p('file'), { onConflict }));
		await refused(t, 'invalid', () => storage.copy(p('folder'), p('file'), { onConflict }));
		await refused(t, 'invalid', () => storage.move(p('file'), p('file'), { onConflict }));
		t.deepEqual(await storage.stat(p('file')), file);
		t.deepEqual(await names(storage, ''), ['file', 'folder']);
		t.deepEqual(await names(storage, 'folder'), ['inner']);
	});

	replacing('beforeNaming is called before a replacement, and no other name is tried', async (t, storage) => {
		for (const way of ways) {
			const { version } = await put(storage, `${way} it`, 'old');
			const own = await challenger(storage, way, 'new', way);
			const given: string[] = [];
			const broken = new Error('it could not be recorded');
			const refuse = () => Promise.reject(broken);
			t.is(await t.throwsAsync(own.replace(`${way} it`, version, { beforeNaming: refuse })), broken);
			t.is(await readText(storage, `${way} it`), 'old');
			await own.assertUntouched(t);
			const more = { otherNames: ['other'], beforeNaming: async (name: string) => void given.push(name) };
			await refused(t, 'preconditionFailed', () => own.replace(`${way} it`, 'another', more));
			t.deepEqual(given, []);
			t.is((await own.replace(`${way} it`, version, more)).name, `${way} it`);
			t.deepEqual(given, [`${way} it`]);
		}
		t.false((await names(storage, '')).includes('other'));
	});

	replacing('a staged file that replaced another one is found there', async (t, storage, again) => {
		const { version } = await put(storage, 'a', 'old');
		const staged = await storage.stage();
		await staged.append(body('new'), 0);
		const item = await staged.commit(p('a'), { onConflict: { replace: version } });
		await refused(t, 'notFound', () => staged.commit(p('a'), { onConflict: { replace: item.version } }));
		await staged.discard();
		t.deepEqual(await (await again()).publishedAs(staged.id, p('a')), item);
		t.is(await readText(storage, 'a'), 'new');
	});

	replacing('a reader of a file that is replaced reads it to its end', async (t, storage) => {
		const { version } = await put(storage, 'a', 'old '.repeat(1000));
		const file = await storage.open(p('a'));
		await (await challenger(storage, 'commit', 'new', '')).replace('a', version);
		t.is(Buffer.from(await readBytes(file)).toString(), 'old '.repeat(1000));
		await file.close();
		t.is(await readText(storage, 'a'), 'new');
	});

	replacing('readers see the old file or the new one, and never none', async (t, storage) => {
		let isOver = false;
		let { version } = await put(storage, 'a', 'content 0');
		const reading = (async () => {
			let seen = 0;
			for (; !isOver; seen++) {
				t.regex(await readText(storage, 'a'), /^content \d+$/);
				await new Promise((resolve) => setImmediate(resolve));
			}
			return seen;
		})();
		for (let n = 1; n <= 12; n++) {
			const own = await challenger(storage, ways[n % 3] ?? 'commit', `content ${n}`, `from ${n}`);
			({ version } = await own.replace('a', version));
		}
		isOver = true;
		t.true((await reading) > 0);
		t.is(await readText(storage, 'a'), 'content 12');
	});

	for (const way of ways) {
		replacing(`of many who replace one version one wins and the others lose nothing (${way})`, async (t, storage) => {
			const { version } = await put(storage, 'wanted', 'old');
			const all = await Promise.all(
				Array.from({ length: 6 }, (_, n) => challenger(storage, way, `content ${n}`, `from ${n}`)),
			);
			const results = await outcomes(all.map((own) => own.replace('wanted', version)));
			t.is(results.filter((result) => result === 'done').length, 1);
			t.is(results.filter((result) => result === 'preconditionFailed').length, 5);
			t.is(await readText(storage, 'wanted'), `content ${results.indexOf('done')}`);
			for (const [n, own] of all.entries()) if (results[n] !== 'done') await own.assertUntouched(t);
		});

		replacing(`a file that is moved or removed while it is replaced is never lost (${way})`, async (t, storage) => {
			await putFolders(storage, 'at', 'to', 'from');
			for (let n = 0; n < 8; n++) {
				const at = joinPath(p('at'), String(n));
				const { version } = await put(storage, at, 'old');
				const own = await challenger(storage, way, 'new', `from/${n}`);
				const change = n % 2 === 0 ? storage.move(at, joinPath(p('to'), String(n))) : storage.remove(at);
				const [replaced, changed] = await outcomes([own.replace(at, version), change]);
				t.is(changed, 'done');
				if (replaced === 'done') {
					// It came first, so the new one was moved or removed.
					if (n % 2 === 0) t.is(await readText(storage, `to/${n}`), 'new');
				} else {
					t.is(replaced, 'preconditionFailed');
					await own.assertUntouched(t);
					if (n % 2 === 0) t.is(await readText(storage, `to/${n}`), 'old');
				}
			}
			t.deepEqual(await names(storage, 'at'), []);
		});
	}
}
