import { isPathSegment, parsePath, rootPath, type StoragePath } from '@stowage/rules';

export interface ChosenFile {
	file: File;
	/** The folder of the choice that it lies in; the root for a file that was chosen by itself. */
	folder: StoragePath;
}

/** What a person wants to upload. */
export interface Chosen {
	files: readonly ChosenFile[];
	/** Folders with nothing in them. A chosen folder has none: browsers tell of a dropped one only. */
	emptyFolders: readonly StoragePath[];
	/** What could not be read, or has a name that no server takes. */
	unreadable: readonly string[];
}

export function hasFolders({ files, emptyFolders }: Chosen): boolean {
	return emptyFolders.length > 0 || files.some(({ folder }) => folder !== rootPath);
}

/** Of an input. */
export function chosenFiles(files: Iterable<File>): Chosen {
	const chosen = emptyChoice();
	for (const file of files) {
		const folder = folderPath(file.webkitRelativePath?.split('/').slice(0, -1) ?? []);
		if (folder === undefined) chosen.unreadable.push(file.webkitRelativePath);
		else chosen.files.push({ file, folder });
	}
	return chosen;
}

/**
 * Of a drop or the clipboard, with all that lies in its folders. Must be called while the event is handled: afterwards
 * the browser empties it.
 */
export function droppedFiles({ items, files }: DataTransfer): Chosen | Promise<Chosen> {
	const dropped = [...items].filter(({ kind }) => kind === 'file');
	if (dropped.length === 0) return chosenFiles(files);
	// The entry of a file says nothing more of it, and a file made by a page has none.
	const found = dropped.map((item) => {
		const entry = item.webkitGetAsEntry();
		return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : item.getAsFile();
	});
	if (!found.some(isDirectory)) return chosenFiles(found.filter((file) => file instanceof File));
	return readAll(found);
}

/** Whether a drag brings files from outside of the page. */
export function bringsFiles(transfer: DataTransfer | null): boolean {
	return transfer?.types.includes('Files') ?? false;
}

interface Found {
	files: ChosenFile[];
	emptyFolders: StoragePath[];
	unreadable: string[];
}

function emptyChoice(): Found {
	return { files: [], emptyFolders: [], unreadable: [] };
}

function isDirectory(found: FileSystemDirectoryEntry | File | null): found is FileSystemDirectoryEntry {
	return found !== null && 'isDirectory' in found;
}

async function readAll(found: (FileSystemDirectoryEntry | File | null)[]): Promise<Chosen> {
	const chosen = emptyChoice();
	for (const one of found) {
		if (isDirectory(one)) await readDirectory(one, [one.name], chosen);
		else if (one) chosen.files.push({ file: one, folder: rootPath });
	}
	return chosen;
}

async function readDirectory(directory: FileSystemDirectoryEntry, path: string[], chosen: Found): Promise<void> {
	const folder = folderPath(path);
	const entries = folder === undefined ? undefined : await listDirectory(directory);
	if (folder === undefined || entries === undefined) {
		chosen.unreadable.push(path.join('/'));
		return;
	}
	if (entries.length === 0) chosen.emptyFolders.push(folder);
	const files = entries.filter((entry) => entry.isFile) as FileSystemFileEntry[];
	for (const [index, file] of (await Promise.all(files.map(fileOf))).entries()) {
		if (file) chosen.files.push({ file, folder });
		else chosen.unreadable.push([...path, files[index]?.name].join('/'));
	}
	for (const entry of entries) {
		if (entry.isDirectory) await readDirectory(entry as FileSystemDirectoryEntry, [...path, entry.name], chosen);
	}
}

/** Undefined when it can't be read. */
async function listDirectory(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[] | undefined> {
	const reader = directory.createReader();
	const entries: FileSystemEntry[] = [];
	for (;;) {
		// It answers a hundred at a time, and none when there are no more.
		const some = await new Promise<FileSystemEntry[] | undefined>((resolve) =>
			reader.readEntries(resolve, () => resolve(undefined)),
		);
		if (some === undefined) return undefined;
		if (some.length === 0) return entries;
		entries.push(...some);
	}
}

function fileOf(entry: FileSystemFileEntry): Promise<File | undefined> {
	return new Promise((resolve) => entry.file(resolve, () => resolve(undefined)));
}

/** Undefined for a name that can't be a part of a path. */
function folderPath(segments: readonly string[]): StoragePath | undefined {
	return segments.every(isPathSegment) ? parsePath(segments.join('/')) : undefined;
}
