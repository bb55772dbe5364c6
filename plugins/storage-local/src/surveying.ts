import type { StorageItem, SurveyBatch } from '@stowage/plugin-api';
import { rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import type { Folder } from './Folder.js';
import { type Facts, itemOf } from './facts.js';
import { asFailure, isFault } from './faults.js';
import { LookPace } from './LookPace.js';
import { lookAtAll } from './looking.js';
import { isPrivateName } from './privateFolder.js';
import { addressableName, type RawEntry } from './rawNames.js';

/** Everything in a folder that can be read, as items, and how much else there is. What vanishes meanwhile is neither. */
export async function* surveyFolder(disk: Disk, path: StoragePath): AsyncGenerator<SurveyBatch> {
	try {
		using folder = await disk.folder(path, 'read');
		const pace = new LookPace();
		for await (const batch of disk.calls.readNames(folder)) {
			yield await survey(disk, folder, batch, path === rootPath, pace);
		}
	} catch (error) {
		throw asFailure(error, path);
	}
}

async function survey(
	disk: Disk,
	folder: Folder,
	batch: readonly RawEntry[],
	isStorageRoot: boolean,
	pace: LookPace,
): Promise<SurveyBatch> {
	const items: StorageItem[] = [];
	let leftOut = 0;
	const add = (item: StorageItem | 'unreadable' | 'gone') => {
		if (item === 'unreadable') leftOut++;
		else if (item !== 'gone') items.push(item);
	};
	const names: string[] = [];
	for (const entry of batch) {
		const name = entry.type === 'other' ? undefined : addressableName(entry.name);
		if (name === undefined) leftOut++;
		else if (!(isStorageRoot && isPrivateName(name))) names.push(name);
	}
	const { factsNow } = disk;
	const { mayReadNow } = disk.calls;
	const looks = {
		now:
			factsNow !== undefined && mayReadNow !== undefined
				? (name: string) => add(judge(name, factsNow(folder, name), (type) => mayReadNow(folder.fd, name, type)))
				: undefined,
		inBackground: async (name: string) => add(await look(disk, folder, name)),
	};
	await lookAtAll(names, looks, pace);
	return { items, leftOut };
}

function judge(
	name: string,
	facts: Facts | undefined,
	mayRead: (type: 'file' | 'directory') => boolean,
): StorageItem | 'unreadable' | 'gone' {
	if (facts === undefined) return 'gone';
	const { type } = facts;
	return type === 'other' || !mayRead(type) ? 'unreadable' : itemOf(name, { ...facts, type });
}

async function look(disk: Disk, folder: Folder, name: string): Promise<StorageItem | 'unreadable' | 'gone'> {
	try {
		const facts = await disk.factsAt(folder, name);
		const mayRead = facts.type !== 'other' && (await disk.calls.mayRead(folder, name, facts.type));
		return judge(name, facts, () => mayRead);
	} catch (error) {
		if (isFault(error, 'ENOENT')) return 'gone';
		throw error;
	}
}
