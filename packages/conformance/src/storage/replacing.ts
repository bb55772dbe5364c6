import {
	type CopyOptions,
	hasReplace,
	type NamingOptions,
	type StagedFile,
	type StorageItem,
	type StorageProvider,
	trashFolder,
} from '@stowage/plugin-api';
import { joinPath, type StoragePath } from '@stowage/rules';
import type { ExecutionContext } from 'ava';
import { body, names, outcomes, put, putFolders, type Rule, readBytes, readText, refused, toPath } from './steps.js';

/** The three ways to replace a file. */
const ways = ['commit', 'move', 'copy'] as const;

type Way = (typeof ways)[number];

interface Replacement {
	/** Replaces the given version. */
	replace(
		path: string,
		version: string,
		more?: NamingOptions & { beforeNaming?: (name: string) => Promise<void>; keepAs?: StoragePath },
	): Promise<StorageItem>;
	/** Asserts that the new file is still where it was before. */
	assertUntouched(t: ExecutionContext): Promise<void>;
}

async function prepareReplacement(
	storage: StorageProvider,
	way: Way,
	content: string,
	source: string,
): Promise<Replacement> {
	const options = (version: string, { keepAs, ...more }: { keepAs?: StoragePath } = {}) => ({
		...more,
		onConflict: { replace: version, keepAs },
	});
	if (way === 'commit') {
		const staged: StagedFile = await storage.stage();
		await staged.append(body(content), 0);
		return {
			replace: (path, version, more) => staged.commit(toPath(path), options(version, more)),
			async assertUntouched(t) {
				t.is(await (await storage.stage(staged.id)).size(), content.length);
			},
		};
	}
	const item = await put(storage, source, content);
	return {
		replace: (path, version, more) => storage[way](toPath(source), toPath(path), options(version, more)),
		async assertUntouched(t) {
			t.is(await readText(storage, source), content);
			if (way === 'copy') t.is((await storage.stat(toPath(source))).id, item.id);
		},
	};
}

async function canReplace(storage: StorageProvider): Promise<boolean> {
	return hasReplace(storage) && (await storage.canReplace(toPath('file')));
}

/** Replacing a file by another one. */
export function replacingRules(assertThat: Rule): void {
	/** A storage that can't replace has to refuse in each of the rules, and to change nothing. */
	const replacing: Rule = (title, check) =>
		assertThat(title, async (t, storage, reopen) => {
			if (await canReplace(storage)) return check(t, storage, reopen);
			const { version } = await put(storage, 'file', 'old');
			for (const way of ways) {
				const replacement = await prepareReplacement(storage, way, 'new', way);
				await refused(t, 'invalid', () => replacement.replace('file', version));
				await replacement.assertUntouched(t);
			}
			t.is(await readText(storage, 'file'), 'old');
			t.deepEqual(await names(storage, ''), ['copy', 'file', 'move']);
		});

	replacing('a file replaces the given version', async (t, storage, reopen) => {
		await putFolders(storage, 'folder', 'from');
		for (const way of ways) {
			const old = await put(storage, `folder/${way}`, 'the old one');
			const replacement = await prepareReplacement(storage, way, 'the new one', `from/${way}`);
			const item = await replacement.replace(`folder/${way}`, old.version);
			t.like(item, { name: way, type: 'file', size: 'the new one'.length });
			t.not(item.id, old.id);
			t.deepEqual(await storage.stat(toPath(`folder/${way}`)), item);
			const reopened = await reopen();
			t.deepEqual(await reopened.stat(toPath(`folder/${way}`)), item);
			t.is(await readText(reopened, `folder/${way}`), 'the new one');
			await refused(t, 'preconditionFailed', async () =>
				(await prepareReplacement(storage, way, 'late', `late ${way}`)).replace(`folder/${way}`, old.version),
			);
		}
		t.deepEqual(await names(storage, 'folder'), ['commit', 'copy', 'move']);
		t.deepEqual(await names(storage, 'from'), ['copy']);
	});

	replacing(
		'a file that replaces another one keeps its id and time if it is moved, and its time if it is copied',
		async (t, storage) => {
			const moved = await put(storage, 'moved', 'new', { mtime: 1_500_000_000_000 });
			const first = await put(storage, 'first', 'old');
			const second = await put(storage, 'second', 'old');
			const copy = await storage.copy(toPath('moved'), toPath('first'), { onConflict: { replace: first.version } });
			t.is(copy.mtime, 1_500_000_000_000);
			const item = await storage.move(toPath('moved'), toPath('second'), { onConflict: { replace: second.version } });
			t.like(item, { id: moved.id, mtime: 1_500_000_000_000 });
			const staged = await storage.stage();
			const onConflict = { replace: item.version };
			t.is((await staged.commit(toPath('second'), { mtime: 1_600_000_000_000, onConflict })).mtime, 1_600_000_000_000);
		},
	);

	replacing(
		'a staged copy is continued after a version that it may not replace, and found once it has replaced its file',
		async (t, storage) => {
			await put(storage, 'from', 'new');
			const { version } = await put(storage, 'file', 'old');
			let id: string | undefined;
			const copy = (replace: string, more: CopyOptions = {}) => {
				const onBegin = async (begun: string) => {
					id = begun;
				};
				const options = { ...more, staged: { id, onBegin }, onConflict: { replace } };
				return storage.copy(toPath('from'), toPath('file'), options);
			};
			const cutOff = async () => {
				throw new Error('cut off');
			};
			await t.throwsAsync(copy(version, { beforeItem: cutOff }), { message: 'cut off' });
			for (let n = 0; n < 2; n++) await refused(t, 'preconditionFailed', () => copy('another'));
			const item = await copy(version);
			for (const replace of [version, item.version, 'another']) t.deepEqual(await copy(replace), item);
			t.is(await readText(storage, 'file'), 'new');
		},
	);

	replacing('another version of a file is not replaced, and nothing changes', async (t, storage) => {
		await putFolders(storage, 'folder', 'other');
		await put(storage, 'folder/kept');
		const folder = await storage.stat(toPath('folder'));
		const first = await put(storage, 'other/file', 'first');
		await storage.remove(toPath('other/file'));
		const second = await put(storage, 'other/file', 'second');
		for (const way of ways) {
			const replacement = await prepareReplacement(storage, way, 'mine', way);
			for (const [path, version] of [
				['other/file', first.version],
				['other/file', ''],
				['other/nothing', second.version],
				['folder', folder.version],
				['folder', second.version],
				['', second.version],
			] as const) {
				await refused(t, 'preconditionFailed', () => replacement.replace(path, version));
				await replacement.assertUntouched(t);
			}
			await refused(t, 'notFound', () => replacement.replace('nowhere/file', second.version));
			await replacement.assertUntouched(t);
		}
		t.deepEqual(await storage.stat(toPath('other/file')), second);
		t.deepEqual(await names(storage, 'other'), ['file']);
		t.deepEqual(await names(storage, 'folder'), ['kept']);
	});

	replacing('a folder cannot replace a file, and a file cannot replace itself', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/inner');
		const file = await put(storage, 'file', 'mine');
		const onConflict = { replace: file.version };
		await refused(t, 'invalid', () => storage.move(toPath('folder'), toPath('file'), { onConflict }));
		await refused(t, 'invalid', () => storage.copy(toPath('folder'), toPath('file'), { onConflict }));
		await refused(t, 'invalid', () => storage.move(toPath('file'), toPath('file'), { onConflict }));
		t.deepEqual(await storage.stat(toPath('file')), file);
		t.deepEqual(await names(storage, ''), ['file', 'folder']);
		t.deepEqual(await names(storage, 'folder'), ['inner']);
	});

	replacing('beforeNaming is called before a replacement, and other names are not tried', async (t, storage) => {
		for (const way of ways) {
			const { version } = await put(storage, `${way} it`, 'old');
			const replacement = await prepareReplacement(storage, way, 'new', way);
			const given: string[] = [];
			const broken = new Error('it could not be recorded');
			const refuse = () => Promise.reject(broken);
			t.is(await t.throwsAsync(replacement.replace(`${way} it`, version, { beforeNaming: refuse })), broken);
			t.is(await readText(storage, `${way} it`), 'old');
			await replacement.assertUntouched(t);
			const more = { otherNames: ['other'], beforeNaming: async (name: string) => void given.push(name) };
			await refused(t, 'preconditionFailed', () => replacement.replace(`${way} it`, 'another', more));
			t.deepEqual(given, []);
			t.is((await replacement.replace(`${way} it`, version, more)).name, `${way} it`);
			t.deepEqual(given, [`${way} it`]);
		}
		t.false((await names(storage, '')).includes('other'));
	});

	replacing('a staged file that replaced another one is found at its path', async (t, storage, reopen) => {
		const { version } = await put(storage, 'a', 'old');
		const staged = await storage.stage();
		await staged.append(body('new'), 0);
		const item = await staged.commit(toPath('a'), { onConflict: { replace: version } });
		await refused(t, 'notFound', () => staged.commit(toPath('a'), { onConflict: { replace: item.version } }));
		await staged.discard();
		t.deepEqual(await (await reopen()).findPublished(staged.id, toPath('a')), item);
		t.is(await readText(storage, 'a'), 'new');
	});

	replacing(
		'a replaced file can be kept in the trash folder, with its id, time and bytes',
		async (t, storage, reopen) => {
			await storage.makeDirectory(trashFolder);
			await putFolders(storage, 'from');
			for (const way of ways) {
				const old = await put(storage, way, 'the old one', { mtime: 1_500_000_000_000 });
				const replacement = await prepareReplacement(storage, way, 'the new one', `from/${way}`);
				const keepAs = joinPath(trashFolder, `kept ${way}`);
				const item = await replacement.replace(way, old.version, { keepAs });
				const reopened = await reopen();
				t.deepEqual(await reopened.stat(toPath(way)), item);
				const { id, size, mtime } = await reopened.stat(keepAs);
				t.deepEqual({ id, size, mtime }, { id: old.id, size: old.size, mtime: old.mtime });
				t.is(await readText(reopened, keepAs), 'the old one');
				// And back, while what it replaces is kept in the same folder.
				const { version } = await storage.stat(toPath(way));
				const other = joinPath(trashFolder, `other ${way}`);
				t.is((await storage.move(keepAs, toPath(way), { onConflict: { replace: version, keepAs: other } })).id, old.id);
				t.is(await readText(storage, way), 'the old one');
				t.is(await readText(storage, other), 'the new one');
				await refused(t, 'notFound', () => storage.stat(keepAs));
			}
			t.deepEqual(await names(storage, ''), ['commit', 'copy', 'from', 'move']);
		},
	);

	replacing('a file is not replaced if it can’t be kept', async (t, storage) => {
		for (const way of ways) {
			const old = await put(storage, `${way} it`, 'old');
			const replacement = await prepareReplacement(storage, way, 'new', way);
			const keepAs = joinPath(trashFolder, 'kept');
			await refused(t, 'notFound', () => replacement.replace(`${way} it`, old.version, { keepAs }));
			await storage.makeDirectory(trashFolder);
			await put(storage, keepAs, 'another one');
			await refused(t, 'alreadyExists', () => replacement.replace(`${way} it`, old.version, { keepAs }));
			await replacement.assertUntouched(t);
			t.deepEqual(await storage.stat(toPath(`${way} it`)), old);
			t.is(await readText(storage, keepAs), 'another one');
			await storage.remove(trashFolder);
		}
	});

	replacing('an open file can be read to its end after it is replaced', async (t, storage) => {
		const { version } = await put(storage, 'a', 'old '.repeat(1000));
		const file = await storage.open(toPath('a'));
		await (await prepareReplacement(storage, 'commit', 'new', '')).replace('a', version);
		t.is(Buffer.from(await readBytes(file)).toString(), 'old '.repeat(1000));
		await file.close();
		t.is(await readText(storage, 'a'), 'new');
	});

	replacing('readers see the old file or the new one, never none', async (t, storage) => {
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
			const replacement = await prepareReplacement(storage, ways[n % 3] ?? 'commit', `content ${n}`, `from ${n}`);
			({ version } = await replacement.replace('a', version));
		}
		isOver = true;
		t.true((await reading) > 0);
		t.is(await readText(storage, 'a'), 'content 12');
	});

	for (const way of ways) {
		replacing(
			`only one of many concurrent replacements of one version succeeds, and the others lose nothing (${way})`,
			async (t, storage) => {
				const { version } = await put(storage, 'wanted', 'old');
				const all = await Promise.all(
					Array.from({ length: 6 }, (_, n) => prepareReplacement(storage, way, `content ${n}`, `from ${n}`)),
				);
				const results = await outcomes(all.map((replacement) => replacement.replace('wanted', version)));
				t.is(results.filter((result) => result === 'done').length, 1);
				t.is(results.filter((result) => result === 'preconditionFailed').length, 5);
				t.is(await readText(storage, 'wanted'), `content ${results.indexOf('done')}`);
				for (const [n, replacement] of all.entries()) if (results[n] !== 'done') await replacement.assertUntouched(t);
			},
		);

		replacing(`of many concurrent replacements each former content is kept once (${way})`, async (t, storage) => {
			await storage.makeDirectory(trashFolder);
			let current = await put(storage, 'wanted', 'content 0');
			const kept: StoragePath[] = [];
			const all = await Promise.all(
				Array.from({ length: 8 }, (_, n) => prepareReplacement(storage, way, `content ${n + 1}`, `from ${n}`)),
			);
			for (let left = all; left.length > 0; ) {
				const targets = left.map((_, n) => joinPath(trashFolder, `${left.length} ${n}`));
				const results = await outcomes(
					left.map((each, n) => each.replace('wanted', current.version, { keepAs: targets[n] })),
				);
				t.is(results.filter((result) => result === 'done').length, 1);
				kept.push(targets[results.indexOf('done')] as StoragePath);
				left = left.filter((_, n) => results[n] !== 'done');
				current = await storage.stat(toPath('wanted'));
			}
			const contents = [await readText(storage, 'wanted')];
			for (const path of kept) contents.push(await readText(storage, path));
			t.deepEqual(
				contents.sort(),
				Array.from({ length: 9 }, (_, n) => `content ${n}`),
			);
			t.is((await names(storage, trashFolder)).length, 8);
		});

		replacing(`a file that is moved or removed while it is replaced is not lost (${way})`, async (t, storage) => {
			await putFolders(storage, 'at', 'to', 'from');
			for (let n = 0; n < 8; n++) {
				const at = joinPath(toPath('at'), String(n));
				const { version } = await put(storage, at, 'old');
				const replacement = await prepareReplacement(storage, way, 'new', `from/${n}`);
				const change = n % 2 === 0 ? storage.move(at, joinPath(toPath('to'), String(n))) : storage.remove(at);
				const [replaced, changed] = await outcomes([replacement.replace(at, version), change]);
				t.is(changed, 'done');
				if (replaced === 'done') {
					// The replacement was first, so the new file was moved or removed.
					if (n % 2 === 0) t.is(await readText(storage, `to/${n}`), 'new');
				} else {
					t.is(replaced, 'preconditionFailed');
					await replacement.assertUntouched(t);
					if (n % 2 === 0) t.is(await readText(storage, `to/${n}`), 'old');
				}
			}
			t.deepEqual(await names(storage, 'at'), []);
		});
	}
}
