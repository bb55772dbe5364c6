import {
	baseName,
	Failure,
	type Files,
	findById,
	type ItemRef,
	type JobContext,
	type OpenFile,
	parentPath,
	parsePath,
	statIfPresent,
	type Viewer,
	type WalkedItem,
} from '@stowage/plugin-api';
import type { Conversion, EncodedStep } from './conversion.js';

/** The video that is converted; in the public area always the viewer's own. */
export function sourceOf({ viewer, input }: Pick<JobContext<Conversion>, 'viewer' | 'input'>): ItemRef {
	const { area, folderId } = input;
	const path = parsePath(input.path);
	if (area === 'public') return { area, path, owner: viewer.username };
	return { area, path, ...(folderId === undefined ? {} : { folderId }) };
}

/** An item of the area of the video, by the path that it has now where the owner of a shared folder has renamed that. */
export function itemAt(job: JobContext<Conversion>, path: string, files: Files): Promise<ItemRef> {
	return files.locate(job.viewer, { ...sourceOf(job), path: parsePath(path) });
}

/** The chosen film, wherever in its area it is by now. Where it is nowhere, or was not recorded, what lies at its path. */
export async function findSource(job: JobContext<Conversion>, files: Files): Promise<ItemRef> {
	const { viewer, input, signal } = job;
	const requested = await itemAt(job, input.path, files);
	if (input.source === undefined) return requested;
	const { id } = input.source;
	if ((await statIfPresent(files, viewer, requested))?.id === id) return requested;
	const found = await findById(files, viewer, folderOf(requested), id, signal);
	return found?.type === 'file' ? { ...requested, path: found.path } : requested;
}

/**
 * Throws unless the file is the chosen one, as it was then. A new name changes the version on most disks, and a disk that was mounted anew
 * may have given it another id: neither has changed its size and time.
 */
export function assertChosen(file: OpenFile['item'], { path, source }: Conversion): void {
	if (source === undefined || isSame(file, source)) return;
	if (file.size === source.size && file.mtime === source.mtime) return;
	const what = file.id === source.id ? 'changed' : 'replaced by another file';
	throw new Failure('conflict', `${baseName(parsePath(path))} was ${what} after its conversion was requested.`);
}

/** Whether the original may be deleted in the end: an older version did not record which film was chosen. */
export const mayDelete = ({ deleteOriginal, source }: Conversion) => deleteOriginal && source !== undefined;

/** Why it is not certain that the converted film is the chosen one; undefined where its id says so. */
export function doubtIn(input: Conversion, converted: EncodedStep['source']): string | undefined {
	if (!mayDelete(input)) return 'It was requested before an update, and which film that meant is not known.';
	if (input.source?.id === converted.id) return undefined;
	return 'Its disk has given it another number meanwhile, so it is not certain that it is the film that was chosen.';
}

/** The folder of an item. */
export const folderOf = (source: ItemRef): ItemRef => ({ ...source, path: parentPath(source.path) });

/** Whether both are one content of one file. */
export const isSame = (a: Pick<OpenFile['item'], 'id' | 'version'>, b: { id: string; version: string }) =>
	a.id === b.id && a.version === b.version;

/** The folder of the original, as long as it has its name. */
export async function folderItem(viewer: Viewer, source: ItemRef, files: Files): Promise<WalkedItem | undefined> {
	const folder = folderOf(source);
	return folder.path === '' ? undefined : statIfPresent(files, viewer, folder);
}
