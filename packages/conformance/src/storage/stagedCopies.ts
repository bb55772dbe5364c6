import type { CopyOptions, StorageProvider } from '@stowage/plugin-api';
import { names, put, putFolders, type Rule, readText, refused, toPath } from './steps.js';

/** Options of a staged copy that record its ids and its bytes. */
function recording(id?: string, name?: string) {
	const recorded = { ids: [] as string[], bytes: 0, items: 0 };
	const options: CopyOptions = {
		staged: { id, name, onBegin: async (given) => void recorded.ids.push(given) },
		beforeItem: async () => void recorded.items++,
		afterBytes: (bytes) => {
			recorded.bytes += bytes;
		},
	};
	return { recorded, options };
}

/** Begins a copy and interrupts it after this many items; resolves to its id. */
async function interruptedCopy(storage: StorageProvider, from: string, to: string, items: number): Promise<string> {
	const { recorded, options } = recording();
	const interruption = new Error('interrupted');
	const beforeItem = async () => {
		if (++recorded.items > items) throw interruption;
	};
	try {
		await storage.copy(toPath(from), toPath(to), { ...options, beforeItem });
	} catch (error) {
		if (error !== interruption) throw error;
	}
	const [id] = recorded.ids;
	if (id === undefined || recorded.ids.length > 1) throw new Error(`The copy was given ${recorded.ids.length} ids.`);
	return id;
}

async function putTree(storage: StorageProvider): Promise<void> {
	await putFolders(storage, 'from', 'from/deep', 'from/deep/er', 'from/empty');
	for (let n = 0; n < 12; n++) await put(storage, `from/${n}`, `file ${n}`, { mtime: 1_500_000_000_000 + n });
	await put(storage, 'from/deep/a', 'in a folder', { mtime: 1_400_000_000_000 });
	await put(storage, 'from/deep/er/b', 'below it', { mtime: 1_400_000_000_001 });
}

const treeBytes = 10 * 'file 0'.length + 2 * 'file 10'.length + 'in a folder'.length + 'below it'.length;
const treeItems = 4 + 12 + 2;

/** A copy that survives an interruption. */
export function stagedCopyRules(assertThat: Rule): void {
	assertThat(
		'a staged copy that was interrupted at any item is continued, also after a restart',
		async (t, storage, reopen) => {
			await putTree(storage);
			for (let items = 0; items < treeItems; items += 3) {
				const id = await interruptedCopy(storage, 'from', 'to', items);
				t.deepEqual(await names(storage, ''), ['from']);
				const reopened = await reopen();
				const { recorded, options } = recording(id);
				const copy = await reopened.copy(toPath('from'), toPath('to'), options);
				t.deepEqual(recorded, { ids: [], bytes: treeBytes, items: treeItems });
				t.deepEqual(await reopened.stat(toPath('to')), copy);
				for (const folder of ['', '/deep', '/deep/er', '/empty']) {
					t.deepEqual(await names(storage, `to${folder}`), await names(storage, `from${folder}`));
					t.is((await storage.stat(toPath(`to${folder}`))).mtime, (await storage.stat(toPath(`from${folder}`))).mtime);
				}
				for (const file of ['0', '11', 'deep/a', 'deep/er/b']) {
					t.is(await readText(storage, `to/${file}`), await readText(storage, `from/${file}`));
					t.is((await storage.stat(toPath(`to/${file}`))).mtime, (await storage.stat(toPath(`from/${file}`))).mtime);
				}
				await storage.remove(toPath('to'));
			}
		},
	);

	assertThat('a continued staged copy has the current content of the original', async (t, storage) => {
		await putTree(storage);
		const id = await interruptedCopy(storage, 'from', 'to', treeItems - 1);
		for (const removed of ['from/0', 'from/empty', 'from/1', 'from/2', 'from/deep/er', 'from/3'])
			await storage.remove(toPath(removed));
		await putFolders(storage, 'from/3', 'from/new', 'from/deep/over');
		await put(storage, 'from/1', 'file !', { mtime: 1_600_000_000_000 });
		await put(storage, 'from/2', 'longer than before', { mtime: 1_500_000_000_002 });
		await put(storage, 'from/empty', 'no folder any more');
		await put(storage, 'from/3/inside', 'no file any more');
		await put(storage, 'from/deep/er', 'this was a folder');
		await storage.copy(toPath('from'), toPath('to'), recording(id).options);
		for (const folder of ['', '/deep', '/deep/over', '/3', '/new']) {
			t.deepEqual(await names(storage, `to${folder}`), await names(storage, `from${folder}`));
		}
		t.false((await names(storage, 'to')).includes('0'));
		for (const file of ['1', '2', '3/inside', '4', 'empty', 'deep/a', 'deep/er']) {
			t.is(await readText(storage, `to/${file}`), await readText(storage, `from/${file}`));
		}
	});

	assertThat('a staged copy of a file is continued, but not as a copy of a folder', async (t, storage) => {
		await put(storage, 'from', 'content', { mtime: 1_500_000_000_000 });
		const id = await interruptedCopy(storage, 'from', 'to', 0);
		const { recorded, options } = recording(id);
		t.like(await storage.copy(toPath('from'), toPath('to'), options), {
			name: 'to',
			size: 7,
			mtime: 1_500_000_000_000,
		});
		t.deepEqual(recorded, { ids: [], bytes: 7, items: 1 });
		t.is(await readText(storage, 'to'), 'content');

		const ofFile = await interruptedCopy(storage, 'from', 'other', 0);
		await storage.remove(toPath('from'));
		await putTree(storage);
		const second = recording(ofFile);
		await storage.copy(toPath('from'), toPath('other'), second.options);
		t.is(second.recorded.ids.length, 1);
		t.is(await readText(storage, 'other/deep/a'), 'in a folder');
	});

	assertThat('a published staged copy is found under the name that was recorded before', async (t, storage, reopen) => {
		await putTree(storage);
		await put(storage, 'to', 'taken');
		for (const from of ['from', 'from/deep/a']) {
			const otherNames = ['to (1)', 'to (2)', 'to (3)'];
			const given: string[] = [];
			const beforeNaming = async (name: string) => void given.push(name);
			const { recorded, options } = recording();
			const copy = await storage.copy(toPath(from), toPath('to'), { ...options, otherNames, beforeNaming });
			t.is(given.at(-1), copy.name);
			const before = await names(storage, '');
			const reopened = await reopen();
			// The other names are not tried: there may be a thousand.
			const second = recording(recorded.ids[0], given.at(-1));
			t.deepEqual(await reopened.copy(toPath(from), toPath('to'), second.options), copy);
			t.deepEqual(second.recorded, { ids: [], bytes: 0, items: 0 });
			await storage.discardCopy(recorded.ids[0] ?? '');
			t.deepEqual(await names(storage, ''), before);
		}
		t.deepEqual(await names(storage, ''), ['from', 'to', 'to (1)', 'to (2)']);
	});

	assertThat(
		'a published staged copy is found under its target name, also if another name was recorded',
		async (t, storage, reopen) => {
			await putTree(storage);
			const { recorded, options } = recording();
			const copy = await storage.copy(toPath('from'), toPath('to'), options);
			// The name that an earlier attempt recorded.
			await put(storage, 'to (1)', 'another item');
			const second = recording(recorded.ids[0], 'to (1)');
			t.deepEqual(await (await reopen()).copy(toPath('from'), toPath('to'), second.options), copy);
			t.deepEqual(await names(storage, ''), ['from', 'to', 'to (1)']);
		},
	);

	assertThat(
		'beforeNaming is called before a copy has its name, and the copy leaves nothing if it fails',
		async (t, storage) => {
			await putTree(storage);
			for (const from of ['from', 'from/deep/a']) {
				const failure = new Error('it could not be recorded');
				const beforeNaming = async (name: string) => {
					t.false((await names(storage, '')).includes(name));
					throw failure;
				};
				t.is(await t.throwsAsync(storage.copy(toPath(from), toPath('to'), { beforeNaming })), failure);
				t.is(
					await t.throwsAsync(storage.copy(toPath(from), toPath('to'), { ...recording().options, beforeNaming })),
					failure,
				);
				t.deepEqual(await names(storage, ''), ['from']);
			}
		},
	);

	assertThat('a discarded or unknown staged copy begins anew', async (t, storage) => {
		await putTree(storage);
		const id = await interruptedCopy(storage, 'from', 'to', 5);
		await storage.discardCopy(id);
		await storage.discardCopy(id);
		for (const unknown of [id, '', 'never given', '../../etc/passwd', '__proto__']) {
			await storage.discardCopy(unknown);
			const { recorded, options } = recording(unknown);
			await storage.copy(toPath('from'), toPath('to'), options);
			t.is(recorded.ids.length, 1);
			t.not(recorded.ids[0], unknown);
			await storage.remove(toPath('to'));
		}
		t.deepEqual(await names(storage, ''), ['from']);
	});

	assertThat('a staged copy is locked while it is being made', async (t, storage) => {
		await putTree(storage);
		const id = await interruptedCopy(storage, 'from', 'to', 5);
		let isChecked = false;
		await storage.copy(toPath('from'), toPath('to'), {
			...recording(id).options,
			async beforeItem() {
				if (isChecked) return;
				isChecked = true;
				await refused(t, 'locked', () => storage.copy(toPath('from'), toPath('to'), recording(id).options));
			},
		});
		t.true(isChecked);
		t.is(await readText(storage, 'to/deep/a'), 'in a folder');
	});

	assertThat('unused staged copies are swept', async (t, storage) => {
		await putTree(storage);
		const [kept, dropped] = [
			await interruptedCopy(storage, 'from', 'to', 5),
			await interruptedCopy(storage, 'from', 'to', 5),
		];
		await storage.copy(toPath('from'), toPath('published'), recording().options);
		const later = Date.now() + 60_000;
		await storage.sweepStaging({ staged: later, copies: 0 }, async () => false);
		await storage.sweepStaging({ staged: 0, copies: later }, async (id) => id === kept);
		const continued = recording(kept);
		await storage.copy(toPath('from'), toPath('kept'), continued.options);
		t.deepEqual(continued.recorded.ids, []);
		const restarted = recording(dropped);
		await storage.copy(toPath('from'), toPath('dropped'), restarted.options);
		t.is(restarted.recorded.ids.length, 1);
		t.deepEqual(await names(storage, ''), ['dropped', 'from', 'kept', 'published']);
	});

	assertThat('an aborted staged copy is not visible and can be continued', async (t, storage) => {
		await putTree(storage);
		const controller = new AbortController();
		const { recorded, options } = recording();
		const beforeItem = async () => {
			if (++recorded.items === 4) controller.abort();
		};
		await t.throwsAsync(
			storage.copy(toPath('from'), toPath('to'), { ...options, beforeItem, signal: controller.signal }),
			{
				any: true,
				name: 'AbortError',
			},
		);
		t.deepEqual(await names(storage, ''), ['from']);
		const second = recording(recorded.ids[0]);
		await storage.copy(toPath('from'), toPath('to'), second.options);
		t.deepEqual(second.recorded.ids, []);
		t.is(await storage.count(toPath('to')), 14);
	});
}
