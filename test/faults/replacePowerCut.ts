import path from 'node:path';
import { hasReplace, type StorageProvider, trashFolder } from '@stowage/plugin-api';
import { isFailure, joinPath, parsePath, type StoragePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import type { ExecutionContext } from 'ava';
import { loadSystemCalls } from '../../plugins/storage-local/src/system/loadSystemCalls.js';
import { mountSmallDisk } from './smallDisk.js';

const [home, file, source] = [parsePath('home'), parsePath('home/a'), parsePath('home/b')];
const kept = joinPath(trashFolder, 'kept');
const [oldText, newText] = ['the old file '.repeat(3000), 'the new one '.repeat(5000)];

/**
 * Cuts the power before and after each change of names while a file replaces another one, and once the call has
 * returned: before that the old or the new file is complete, from then on the new one. A replaced file that is kept is
 * in one of both places at each cut.
 */
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
	await storage.makeDirectory(trashFolder);
	for (const [way, keepAs] of (['commit', 'move', 'copy'] as const).flatMap(
		(each) =>
			[
				[each, undefined],
				[each, kept],
			] as const,
	)) {
		const { version } = await put(storage, file, oldText);
		const staged = await storage.stage();
		await staged.append(bytes(newText), 0);
		if (way !== 'commit') await staged.commit(source);
		// Checks beforehand whether the disk can, which is no part of the test.
		t.true(hasReplace(storage) && (await storage.canReplace(file)));
		isArmed = true;
		const onConflict = { replace: version, keepAs };
		if (way === 'commit') await staged.commit(file, { onConflict });
		else await storage[way](source, file, { onConflict });
		t.true(found.length >= (keepAs === undefined ? 4 : 6), way);
		const before = way === 'commit' ? 'old' : 'old and new';
		const after = new RegExp(`^new( and new)?${keepAs === undefined ? '' : ', kept old'}$`);
		for (const each of found.splice(0)) if (each !== before) t.regex(each, after, way);
		await cut();
		const last = `${way === 'copy' ? 'new and new' : 'new'}${keepAs === undefined ? '' : ', kept old'}`;
		t.is(found.pop(), last, `${way}, once the call has returned`);
		isArmed = false;
		for (const each of [file, ...(way === 'copy' ? [source] : []), ...(keepAs === undefined ? [] : [kept])])
			await storage.remove(each);
	}
	await storage.close();
}

/** The texts under the name, under that of the file that is moved or copied to it, and of the replaced file that is kept. */
async function namedTexts(storage: StorageProvider): Promise<string> {
	const texts: string[] = [];
	for await (const rows of storage.list(home)) {
		for (const { name } of rows.sort((one, other) => (one.name < other.name ? -1 : 1))) {
			texts.push(nameOf(await read(storage, joinPath(home, name))));
		}
	}
	const text = await read(storage, kept).catch((error: unknown) => {
		if (!isFailure(error, 'notFound')) throw error;
	});
	return `${texts.join(' and ')}${text === undefined ? '' : `, kept ${nameOf(text)}`}`;
}

function nameOf(text: string): string {
	return text === oldText ? 'old' : text === newText ? 'new' : `${text.length} bytes`;
}

async function read(storage: StorageProvider, at: StoragePath): Promise<string> {
	const opened = await storage.open(at);
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
