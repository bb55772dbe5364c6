import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import type { InspectedBatch, UnusableItem, UnusableReason } from '@stowage/plugin-api';
import {
	isPathSegment,
	maxListedDepth,
	maxNameBytes,
	pathDepth,
	rootPath,
	type StoragePath,
	TriedNames,
} from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { isPrivateName } from '../root/privateFolder.js';
import { lstat, readlink } from '../system/descriptors.js';
import { type ObjectType, typeOfMode } from '../system/fileStat.js';
import { type Folder, openChild } from '../system/openFolder.js';
import { mayReadByMode } from '../system/permissions.js';
import { addressableName, pathPart, type RawEntry, type RawName } from '../system/rawNames.js';
import { isDamage, isSystemError, toFailure } from '../system/systemErrors.js';
import { AdaptiveBatch, statMany } from './statMany.js';

/** All in a folder and below that the server can't use, found through open folders only. */
export async function* findUnusable(disk: Disk, path: StoragePath): AsyncGenerator<InspectedBatch> {
	try {
		using folder = await disk.folder(path, 'read');
		yield { inspected: 1, unusable: [] };
		yield* inspectFolder(disk, { folder, location: await realPath(folder), depth: pathDepth(path) });
	} catch (error) {
		if (!isSystemError(error, 'EACCES', 'EPERM')) throw toFailure(error, path);
		yield { inspected: 1, unusable: [await unreadable(disk, path)] };
	}
}

/** A folder that can't be opened for reading; of owner -1 and with mode 0 if it can't be reached either. */
async function unreadable(disk: Disk, path: StoragePath): Promise<UnusableItem> {
	const item = (location: Buffer, owner: number, mode: number): UnusableItem => ({
		location,
		type: 'directory',
		reason: { kind: 'unreadable', owner, mode },
	});
	try {
		using folder = await disk.folder(path, 'path');
		const { uid, mode } = await disk.ownershipOf(folder.fd);
		return item(await realPath(folder), uid, mode);
	} catch {
		return item(Buffer.from(path === rootPath ? disk.root.path : `${disk.root.path}/${path}`), -1, 0);
	}
}

/** Where an open folder lies, without the links that led to it: whoever has put one there does not decide what is named. */
async function realPath(folder: Folder): Promise<Buffer> {
	return folder.isNamedByDescriptor ? readlink(folder.path, 'buffer') : Buffer.from(folder.path);
}

interface Place {
	folder: Folder;
	location: Buffer;
	/** 0 is the root of the storage. */
	depth: number;
}

async function* inspectFolder(disk: Disk, { folder, location, depth }: Place): AsyncGenerator<InspectedBatch> {
	const own = async (kind: 'unreadable' | 'unwritable'): Promise<UnusableItem> => {
		const { uid: owner, mode } = await disk.ownershipOf(folder.fd);
		return { location, type: 'directory', reason: { kind, owner, mode } };
	};
	// Opening it has shown that it can be listed, which is not enough to reach what is in it.
	if (!(await disk.calls.mayRead(folder, '.', 'directory'))) return yield found(await own('unreadable'));
	if (!(await disk.calls.mayChange(folder))) yield found(await own('unwritable'));
	const proposals = new Proposals(folder);
	const stats = new AdaptiveBatch();
	for await (const batch of disk.calls.readNames(folder)) {
		if (depth >= maxListedDepth && batch.length > 0)
			return yield found({ location, type: 'directory', reason: { kind: 'depth' } });
		const visible = depth === 0 ? batch.filter(({ name }) => !isPrivateName(decoded(name))) : batch;
		const { folders, ...inspected } = await inspectBatch(disk, folder, location, visible, proposals, stats);
		yield inspected;
		// One after another: in parallel, a wide tree would have more folders open than a process may.
		for (const name of folders) {
			if (disk.isClosing) return;
			yield* inspectChild(disk, { folder, location: locationOf(location, name), depth }, name);
			const reason = await nameReason(name, 'directory', proposals);
			if (reason !== undefined) yield found({ location: locationOf(location, name), type: 'directory', reason });
		}
	}
}

async function* inspectChild(
	disk: Disk,
	{ folder: parent, location, depth }: Place,
	name: RawName,
): AsyncGenerator<InspectedBatch> {
	let folder: Folder;
	try {
		folder = await openChild(parent, pathPart(name), 'read');
	} catch (error) {
		// Removed or replaced since it was listed.
		if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return;
		if (isDamage(error)) return yield found({ location, type: 'directory', reason: { kind: 'damaged' } });
		if (!isSystemError(error, 'EACCES', 'EPERM')) throw error;
		const stats = await statOf(parent, name);
		if (stats?.isDirectory())
			yield found({
				location,
				type: 'directory',
				reason: { kind: 'unreadable', owner: stats.uid, mode: stats.mode },
			});
		return;
	}
	using _open = folder;
	yield* inspectFolder(disk, { folder, location, depth: depth + 1 });
}

/** All but the contents of the folders in a batch. */
async function inspectBatch(
	disk: Disk,
	folder: Folder,
	location: Buffer,
	batch: readonly RawEntry[],
	proposals: Proposals,
	stats: AdaptiveBatch,
): Promise<InspectedBatch & { folders: RawName[] }> {
	const unusable: UnusableItem[] = [];
	const folders: RawName[] = [];
	const files = new Map<string, RawName>();
	const add = (name: RawName, type: ObjectType, reason: UnusableReason) =>
		unusable.push({ location: locationOf(location, name), type, reason });
	const addDamaged = (name: RawName, error: unknown): undefined => {
		if (!isDamage(error)) throw error;
		add(name, 'other', { kind: 'damaged' });
	};
	const addUnreadable = async (name: RawName) => {
		const stat = await statOf(folder, name).catch((error: unknown) => addDamaged(name, error));
		if (stat?.isFile()) add(name, 'file', { kind: 'unreadable', owner: stat.uid, mode: stat.mode });
	};
	for (const { name, type: listed } of batch) {
		const isUnsure = listed === 'unknown' || listed === 'other';
		const stat = isUnsure ? await statOf(folder, name).catch((error: unknown) => addDamaged(name, error)) : undefined;
		if (isUnsure && stat === undefined) continue;
		const type = stat === undefined ? (listed as ObjectType) : typeOfMode(stat.mode);
		if (type === 'other') add(name, type, { kind: stat?.isSymbolicLink() ? 'link' : 'special' });
		else if (type === 'directory') folders.push(name);
		else {
			const reason = await nameReason(name, type, proposals);
			if (reason !== undefined) {
				if (!(await isReadableByMode(folder, name))) await addUnreadable(name);
				add(name, type, reason);
			} else files.set(decoded(name), name);
		}
	}
	const unreadable: RawName[] = [];
	const note = (name: string) => unreadable.push(files.get(name) as RawName);
	const { mayReadSync } = disk.calls;
	const calls = {
		sync:
			disk.isLocal && mayReadSync !== undefined
				? (name: string) => void (mayReadSync(folder.fd, name, 'file') || note(name))
				: undefined,
		async: async (name: string) => {
			try {
				if (!(await disk.calls.mayRead(folder, name, 'file'))) note(name);
			} catch (error) {
				if (isSystemError(error, 'ENOENT', 'ELOOP')) return;
				addDamaged(files.get(name) as RawName, error);
			}
		},
	};
	await statMany([...files.keys()], calls, stats);
	for (const name of unreadable) await addUnreadable(name);
	return { inspected: batch.length, unusable, folders };
}

/** The metadata of an object; undefined if it vanished. */
async function statOf(folder: Folder, name: RawName): Promise<Stats | undefined> {
	try {
		return await lstat(folder.at(pathPart(name) as string));
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** Whether a file is readable by its mode, for a name that can't be passed to the system as text. */
async function isReadableByMode(folder: Folder, name: RawName): Promise<boolean> {
	const stat = await statOf(folder, name);
	return stat === undefined || mayReadByMode(stat, 'file');
}

/** Why no path can contain the name; undefined if one can. */
async function nameReason(
	name: RawName,
	type: 'file' | 'directory',
	proposals: Proposals,
): Promise<UnusableReason | undefined> {
	if (addressableName(name) !== undefined) return undefined;
	const bytes = Buffer.from(name, 'latin1');
	const fault = !isUtf8(bytes) ? 'encoding' : isTooLong(bytes.toString()) ? 'length' : 'characters';
	return { kind: 'name', fault, freeName: await proposals.find(name, type) };
}

function isTooLong(text: string): boolean {
	return Buffer.byteLength(text) > maxNameBytes && text === withoutRefused(text);
}

/** How many are remembered, so that two names of a folder don't get the same proposal. */
const maxRemembered = 1000;

/** Valid names for items of one folder. */
class Proposals {
	readonly #given = new Set<string>();
	/** Names that become the same would each try all that others have got. */
	readonly #tried = new TriedNames();

	constructor(readonly folder: Folder) {}

	async find(name: RawName, type: 'file' | 'directory'): Promise<string | undefined> {
		const wished = withoutRefused(decoded(name));
		for (const candidate of this.#tried.candidates(wished, type)) {
			if (!isPathSegment(candidate) || this.#given.has(candidate)) continue;
			if ((await statOf(this.folder, Buffer.from(candidate).toString('latin1') as RawName)) !== undefined) continue;
			if (this.#given.size < maxRemembered) {
				this.#given.add(candidate);
				this.#tried.record(wished, type, candidate);
			}
			return candidate;
		}
		return undefined;
	}
}

/** Names that are no UTF-8 are mostly those of an old Windows share. */
const windows = new TextDecoder('windows-1252');

/** The name as people have it. */
function decoded(name: RawName): string {
	const bytes = Buffer.from(name, 'latin1');
	return isUtf8(bytes) ? bytes.toString() : windows.decode(bytes);
}

function withoutRefused(name: string): string {
	return name.replaceAll(/[\u0000-\u001F\u007F-\u009F\\]/g, '_');
}

function locationOf(folder: Buffer, name: RawName): Buffer {
	return Buffer.concat([folder, Buffer.from('/'), Buffer.from(name, 'latin1')]);
}

/** Items that were counted before. */
function found(...unusable: UnusableItem[]): InspectedBatch {
	return { inspected: 0, unusable };
}
