import path from 'node:path';
import { hasReplace, type StorageProvider } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import type { ExecutionContext } from 'ava';
import { loadSystemCalls } from '../../plugins/storage-local/src/system/loadSystemCalls.js';
import { mountSmallDisk } from './smallDisk.js';

const [home, file, source] = [parsePath('home'), parsePath('home/a'), parsePath('home/b')];
const [oldText, newText] = ['the old file '.repeat(3000), 'the new one '.repeat(5000)];

/** Cuts the power before and after each change of names while a file replaces another one, and once the call has returned: before that the old or the new file is complete, from then on the new one. */
export async function cutPowerWhileReplacing(t: ExecutionContext): Promise<void> {
	const disk = await mountSmallDisk(t, 32);
	const calls = await loadSystemCalls();
	const { exchange } = calls;
	if (disk === undefined || exchange === undefined) {
		t.pass('no disk to cut off');
		return;
	}
	let isArmed = false;
	const found: string[] = [];
	const cut = async (): Promise<void> => {
		if (!isArmed) return;
		await disk.afterPowerCut(async (folder) => {
			const again = await localStorageDriver(path.join(folder, 'files')).open(storage.rootId);
			found.push(await namedTexts(again));
			await again.close();
		});
	};
	const storage = await localStorageDriver(path.join(disk.folder, 'files'), {
		calls: {
			...calls,
			async renameNoReplace(...args) {
				await cut();
				await calls.renameNoReplace(...args);
				await cut();
			},
			async exchange(...args) {
				await cut();
				await exchange(...args);
				await cut();
			},
		},
	}).open(undefined);
	await storage.makeDirectory(home);
	for (const way of ['commit', 'move', 'copy'] as const) {
		const { version } = await put(storage, file, oldText);
		const staged = await storage.stage();
		await staged.append(bytes(newText), 0);
		if (way !== 'commit') await staged.commit(source);
		// Checks beforehand whether the disk can, which is no part of the test.
		t.true(hasReplace(storage) && (await storage.canReplace(file)));
		isArmed = true;
		if (way === 'commit') await staged.commit(file, { onConflict: { replace: version } });
		else await storage[way](source, file, { onConflict: { replace: version } });
		t.true(found.length >= 4, way);
		for (const each of found.splice(0))
			t.regex(each, way === 'commit' ? /^(old|new)$/ : /^(old and new|new|new and new)$/);
		await cut();
		t.is(found.pop(), way === 'copy' ? 'new and new' : 'new', `${way}, once the call has returned`);
		isArmed = false;
		for (const each of way === 'copy' ? [file, source] : [file]) await storage.remove(each);
	}
	await storage.close();
}

/** The texts under the name, and under that of the file that is moved or copied to it. */
async function namedTexts(storage: StorageProvider): Promise<string> {
	const texts: string[] = [];
	for await (const rows of storage.list(home)) {
		for (const { name } of rows.sort((one, other) => (one.name < other.name ? -1 : 1))) {
			const text = await read(storage, `home/${name}`);
			texts.push(text === oldText ? 'old' : text === newText ? 'new' : `${text.length} bytes of ${name}`);
		}
	}
	return texts.join(' and ');
}

async function read(storage: StorageProvider, at: string): Promise<string> {
	const opened = await storage.open(parsePath(at));
	try {
		let text = '';
		for await (const chunk of opened.read()) text += Buffer.from(chunk).toString();
		return text;
	} finally {
		await opened.close();
	}
}

async function put(storage: StorageProvider, at: typeof file, text: string) {
	const staged = await storage.stage();
	await staged.append(bytes(text), 0);
	return staged.commit(at);
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
	yield Buffer.from(text);
}
