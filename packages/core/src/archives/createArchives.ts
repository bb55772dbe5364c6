import { createHash } from 'node:crypto';
import type { ArchiveFormat, ByteRange, Files, OpenFile, Turn } from '@stowage/plugin-api';
import { type Area, baseName, Failure, isFailure, parentPath, type Viewer, zipFileName } from '@stowage/rules';
import { isVisitorKey } from '../http/requests/proxy.js';
import { Budget, type BudgetLimits } from '../limits/Budget.js';
import { byTurns } from '../limits/byTurns.js';
import { FairQueue } from '../limits/FairQueue.js';
import { contentKeyOf, type ManifestEntry } from './Manifest.js';
import {
	type ChosenItem,
	type KeptSelection,
	makeManifest,
	ownedBy,
	type Selection,
	statSelected,
} from './makeManifest.js';

/** A selection that can be sent like a file. An archive is made while it is read; nothing of it is on disk. */
export interface OpenSelection {
	kind: 'file' | 'archive';
	/** The caller closes it. */
	file: OpenFile;
	/** The name to save it under. */
	name: string;
	/** How many selected items, or items in them, are not in the archive. */
	skipped: number;
	/** How many files and folders are in it. */
	entries: number;
	/** The selected items: each once, in the tree that it was found in. */
	items: readonly ChosenItem[];
}

/** The client and the viewer of an archive. */
export interface Requester {
	/** The `clientKey` of the caller, who may not be the viewer: anybody may use a link. */
	client: string;
	/** The `networkKey` of the caller's address. */
	network?: string;
	signal?: AbortSignal;
}

export interface Archives {
	/**
	 * Makes the archive of a selection as it is now and as the viewer may see it. Its version is the same as long as its bytes are. Throws
	 * `notFound` if something selected does not exist, `tooLarge` for more than an archive may contain, `rateLimited` or `unavailable`
	 * while too much is under way for one client or for all, and `unavailable` where no plugin offers archives.
	 */
	open(viewer: Viewer, selection: Selection, requester: Requester): Promise<OpenSelection>;
	/** Opens a selection like `open`, but a single selected file as itself and not as an archive. */
	openFileOrArchive(viewer: Viewer, selection: Selection | KeptSelection, requester: Requester): Promise<OpenSelection>;
	/** How many are made or sent right now. */
	underWay(): number;
	/** The queue for reading checksums. */
	queue: FairQueue;
}

export interface ArchiveLimits {
	/** Files and folders in one archive. */
	maxEntries: number;
	/** Archives that are made or sent at once. */
	concurrent: BudgetLimits;
	/** Bytes of memory for the lists of their contents. */
	memory: BudgetLimits;
}

const megabyte = 1024 * 1024;

/** A paused download is an archive at once, too, and costs two buffers. */
export const defaultArchiveLimits: Omit<ArchiveLimits, 'maxEntries'> = {
	concurrent: { total: 400, perClient: 200, group: { total: 200, includes: isVisitorKey }, reservedPerSite: 1 },
	memory: {
		total: 192 * megabyte,
		perClient: 96 * megabyte,
		group: { total: 128 * megabyte, includes: isVisitorKey },
		reservedPerSite: megabyte,
	},
};

interface Dependencies {
	files: Files;
	format: () => ArchiveFormat | undefined;
	/** The queue for walks through folders. */
	walks: FairQueue;
	limits: ArchiveLimits;
}

const busy = 'Too many ZIPs are being downloaded. Please try again in a moment.';

export function createArchives({ files, format, walks, limits }: Dependencies): Archives {
	const concurrent = new Budget(limits.concurrent, busy);
	const memory = new Budget(limits.memory, busy);
	// Apart from the walks: reading for a checksum may take hours, and a search should not wait for that. Any number may be paused: each is
	// an archive that is open, of which there are only so many.
	const checksums = new FairQueue(
		{
			...{ running: 8, runningPerClient: 2, waiting: 400, waitingPerClient: 64 },
			group: { running: 4, waiting: 200, includes: isVisitorKey },
			...byTurns(busy, Number.POSITIVE_INFINITY),
		},
		busy,
	);

	async function open(
		viewer: Viewer,
		selection: Selection | KeptSelection,
		requester: Requester,
		mayBeFile: boolean,
	): Promise<OpenSelection> {
		const leave = concurrent.reserve(requester, 1);
		const held = memory.openReservation(requester);
		const close = () => {
			leave();
			held.release();
		};
		try {
			const opened = await walks.run(requester, (turn) => make(held.add, turn), requester.signal);
			return { ...opened, file: closing(opened.file, close) };
		} catch (error) {
			close();
			throw error;
		}

		async function make(hold: (bytes: number) => void, turn: Turn): Promise<OpenSelection> {
			const { area } = selection;
			const { signal } = requester;
			let bytes = 0;
			const reserve = (more: number) => {
				bytes += more;
				if (bytes > limits.memory.perClient) throw tooLong();
				hold(more);
			};
			const dependencies = { files, viewer, area, reserve, maxEntries: limits.maxEntries, signal, turn };
			const chosen = 'items' in selection ? selection.items : await selection.readItems(turn, signal);
			const found = await statSelected(dependencies, chosen);
			const items = found.map(({ path, owner }) => ({ path, ...ownedBy(owner) }));
			const [only] = found;
			if (mayBeFile && only?.type === 'file' && found.length === 1) {
				const { entry, file } = await files.open(viewer, { area, path: only.path, ...ownedBy(only.owner) });
				return { kind: 'file', file, name: entry.name, skipped: 0, entries: 1, items };
			}
			const zip = format();
			if (zip === undefined) throw new Failure('unavailable', 'ZIP archives are not available on this server.');
			const { manifest, chosen: named, skipped, fingerprint } = await makeManifest(dependencies, found);
			reserve(manifest.count * zip.bytesPerEntry);
			const closed = new AbortController();
			const reading = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
			const archive = await zip.archive<ManifestEntry>(
				{
					count: manifest.count,
					entry: (index) => manifest.entry(index),
					open: (entry) => openUnchanged(files, viewer, area, entry),
					readSmall: (some, into) => readUnchanged(files, viewer, area, some, into),
					throttle: (work, workSignal = reading) => checksums.run(requester, work, workSignal),
				},
				reading,
			);
			const name = zipFileName(named, new Date());
			const version = createHash('sha256').update(`${zip.version} ${fingerprint}`).digest('base64url');
			// Its time would be that of its newest part, and stay so when a part is removed: only the version distinguishes archives.
			const item = { name, type: 'file', size: archive.size, mtime: Number.NaN, id: version, version } as const;
			const file: OpenFile = {
				item,
				read: (range?: ByteRange) => archive.read(range, reading),
				isChanged: async () => false,
				// What still reads for it holds a place, and files, for nobody.
				close: async () => closed.abort(new Error('The archive is closed.')),
			};
			return { kind: 'archive', file, name, skipped, entries: manifest.count, items };
		}
	}

	return {
		open: (viewer, selection, requester) => open(viewer, selection, requester, false),
		openFileOrArchive: (viewer, selection, requester) => open(viewer, selection, requester, true),
		underWay: () => concurrent.used,
		queue: checksums,
	};
}

function tooLong(): Failure {
	return new Failure('tooLarge', 'This is too much for one ZIP: the list of its files is too long.');
}

/** Wraps the file: closing it also releases the memory that was reserved for it. */
function closing(file: OpenFile, release: () => void): OpenFile {
	return {
		item: file.item,
		read: (range) => file.read(range),
		isChanged: (options) => file.isChanged(options),
		async close() {
			try {
				await file.close();
			} finally {
				release();
			}
		},
	};
}

function changed(cause?: unknown): Failure {
	return new Failure('conflict', 'A file of a ZIP is no longer what it was when the ZIP was begun.', { cause });
}

/** The permission is checked again, and the bytes must be those that the archive was laid out for. */
async function openUnchanged(files: Files, viewer: Viewer, area: Area, entry: ManifestEntry): Promise<OpenFile> {
	const { path, owner } = entry;
	const { file } = await files.open(viewer, { area, path, ...ownedBy(owner) }).catch((error: unknown) => {
		throw isFailure(error, 'notFound') ? changed(error) : error;
	});
	if (contentKeyOf(file.item) === entry.contentKey) return file;
	await file.close();
	throw changed();
}

/** Reads small files of one folder together into `into`. A file that can't be read that way is opened, which throws the reason. */
async function readUnchanged(
	files: Files,
	viewer: Viewer,
	area: Area,
	entries: readonly ManifestEntry[],
	into: Buffer,
): Promise<(Uint8Array | undefined)[]> {
	const contents: (Uint8Array | undefined)[] = [];
	for (let used = 0; contents.length < entries.length; ) {
		const { path, owner } = entries[contents.length] as ManifestEntry;
		const parent = parentPath(path);
		const rest = entries.slice(contents.length);
		const end = rest.findIndex((entry) => parentPath(entry.path) !== parent || entry.owner !== owner);
		const together = end === -1 ? rest : rest.slice(0, end);
		const names = together.map((entry) => baseName(entry.path));
		const folder = { area, path: parent, ...ownedBy(owner) };
		const found = await files.readSmallFiles(viewer, folder, names, into.subarray(used)).catch((error: unknown) => {
			if (!isFailure(error)) throw error;
			return [];
		});
		for (const [index, entry] of together.entries()) {
			const file = found[index];
			const isSame = file !== undefined && contentKeyOf(file.item) === entry.contentKey;
			contents.push(isSame ? file.bytes : undefined);
			used += file?.bytes.length ?? 0;
		}
	}
	return contents;
}
