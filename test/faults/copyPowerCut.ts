import path from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import type { ExecutionContext } from 'ava';
import { faultsIn, writeManyFiles } from './manyFiles.js';
import { mountSmallDisk } from './smallDisk.js';

const [from, to] = [parsePath('many'), parsePath('copy')];

/**
 * Cuts the power in the middle of a copy, and continues it with the contents of the disk: it is complete in the end,
 * and part of it was not copied again.
 */
export async function cutPowerWhileCopying(t: ExecutionContext, count: number, cutAt: number): Promise<void> {
	const disk = await mountSmallDisk(t, 192);
	if (disk === undefined) {
		t.pass('no disk to cut off');
		return;
	}
	const storage = await localStorageDriver(path.join(disk.folder, 'files')).open(undefined);
	await writeManyFiles(path.join(disk.folder, 'files/many'), count);
	// This makes the original durable.
	await storage.copy(from, parsePath('other'));

	const ids: string[] = [];
	let items = 0;
	let cutting: Promise<void> | undefined;
	const cut = async () => {
		await disk.afterPowerCut(async (folder) => {
			const root = path.join(folder, 'files');
			const again = await localStorageDriver(root).open(storage.rootId);
			t.deepEqual(await resumeCopy(again, ids[0] ?? '', (written) => written > 0 && written <= count - 1000), '');
			t.deepEqual(await faultsIn(path.join(root, 'copy'), count), []);
			await again.close();
		});
	};
	await storage.copy(from, to, {
		staged: { onBegin: async (given) => void ids.push(given) },
		async beforeItem() {
			if (++items < cutAt) return;
			cutting ??= cut();
			await cutting;
		},
	});
	t.truthy(cutting, 'the power was cut');
	t.deepEqual(await faultsIn(path.join(disk.folder, 'files/copy'), count), []);
	await storage.close();
}

/** Continues a copy; resolves to a message if the number of written files is not the expected one. */
async function resumeCopy(
	storage: StorageProvider,
	id: string,
	isExpected: (written: number) => boolean,
): Promise<string> {
	let written = 0;
	let begun = 0;
	await storage.copy(from, to, {
		staged: { id, onBegin: async () => void begun++ },
		beforeBytes: async () => void written++,
	});
	return begun === 0 && isExpected(written) ? '' : `${written} files were written, and ${begun} copies begun`;
}
