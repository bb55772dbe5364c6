import { createHash } from 'node:crypto';
import type { ArchiveFormat, ByteRange, Files, OpenFile } from '@stowage/plugin-api';
import { type Area, Failure, type Viewer, zipFileName } from '@stowage/rules';
import { contentKeyOf, type FrozenEntry } from './FrozenList.js';
import { freeze, type Selection } from './freeze.js';

/** An archive that can be sent like a file. It is made while it is read; nothing of it is on disk. */
export interface OpenArchive {
	file: OpenFile;
	/** The name to save it under. */
	name: string;
	/** How many things were chosen, or lie in what was chosen, and are not in it. */
	skipped: number;
}

export interface Archives {
	/**
	 * Makes the archive of a selection as it is now and as the viewer may see it. Its version is the same as long as its bytes are. Throws `notFound` if something
	 * chosen is not there, and `unavailable` where no plugin offers archives.
	 */
	open(viewer: Viewer, selection: Selection, signal?: AbortSignal): Promise<OpenArchive>;
}

export function createArchives(files: Files, format: () => ArchiveFormat | undefined): Archives {
	return {
		async open(viewer, selection, signal) {
			const zip = format();
			if (zip === undefined) throw new Failure('unavailable', 'ZIP archives are not available on this server.');
			const { list, chosen, skipped, fingerprint } = await freeze(files, viewer, selection, signal);
			const archive = zip.archive<FrozenEntry>({
				count: list.count,
				entry: (index) => list.entry(index),
				open: (entry) => openUnchanged(files, viewer, selection.area, entry),
			});
			const name = zipFileName(chosen, new Date());
			const version = createHash('sha256').update(`${zip.version} ${fingerprint}`).digest('base64url');
			// Its time would be that of its newest part, and stay so when a part is removed: only the version tells one archive from another.
			const item = { name, type: 'file', size: archive.size, mtime: Number.NaN, id: version, version } as const;
			return {
				name,
				skipped,
				file: {
					item,
					read: (range?: ByteRange) => archive.read(range, signal),
					isChanged: async () => false,
					close: async () => {},
				},
			};
		},
	};
}

/** The permission is asked for again, and the bytes must be those that the archive was laid out for. */
async function openUnchanged(files: Files, viewer: Viewer, area: Area, entry: FrozenEntry): Promise<OpenFile> {
	const { path, owner } = entry;
	const { file } = await files.open(viewer, { area, path, ...(owner === undefined ? {} : { owner }) });
	if (contentKeyOf(file.item) === entry.contentKey) return file;
	await file.close();
	throw new Error('A file of an archive is no longer what it was when the archive was begun.');
}
