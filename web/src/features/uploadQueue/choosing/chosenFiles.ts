import { batchesOf, isPathSegment, parsePath, rootPath, type StoragePath, trimName } from '@stowage/rules';

export interface ChosenFile {
	file: File;
	/** Its folder within the chosen or dropped folder; the root for a single file. */
	folder: StoragePath;
}

/** The files that the user chose, dropped or pasted. */
export interface Chosen {
	files: readonly ChosenFile[];
	/** Empty folders. Browsers list them for a dropped folder only. */
	emptyFolders: readonly StoragePath[];
	/** Paths that can't be read or whose names are not allowed. */
	unreadable: readonly string[];
}

export function hasFolders({ files, emptyFolders }: Chosen): boolean {
	return emptyFolders.length > 0 || files.some(({ folder }) => folder !== rootPath);
}

/** The files of an `<input>`. */
export function chosenFiles(files: Iterable<File>): Chosen {
	const chosen = emptyCollection();
	for (const file of files) {
		const folder = folderPath(file.webkitRelativePath?.split('/').slice(0, -1) ?? []);
		if (folder === undefined) chosen.unreadable.push(file.webkitRelativePath);
		else chosen.files.push({ file, folder });
	}
	return chosen;
}

/**
 * The files of a drop or the clipboard, with the contents of dropped folders. Must be called while the event is handled: the
 * browser empties the transfer afterwards. Rejects if the browser does not give access to them.
 */
export function droppedFiles(transfer: DataTransfer): Chosen | Promise<Chosen> {
	try {
		return filesOf(transfer);
	} catch (error) {
		return Promise.reject(error);
	}
}

function filesOf({ items, files }: DataTransfer): Chosen | Promise<Chosen> {
	const dropped = [...items].filter(({ kind }) => kind === 'file');
	if (dropped.length === 0) return chosenFiles(files);
	// A file that a page made has no entry, so entries are used for folders only.
	const sources = dropped.map((item) => {
		const entry = item.webkitGetAsEntry();
		return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : item.getAsFile();
	});
	if (!sources.some(isDirectory)) return chosenFiles(sources.filter((file) => file instanceof File));
	return readAll(sources);
}

/** Whether a drag or a paste has files. */
export function hasFiles(transfer: DataTransfer | null): boolean {
	return transfer?.types.includes('Files') ?? false;
}

interface CollectedFiles {
	files: ChosenFile[];
	emptyFolders: StoragePath[];
	unreadable: string[];
}

function emptyCollection(): CollectedFiles {
	return { files: [], emptyFolders: [], unreadable: [] };
}

function isDirectory(source: FileSystemDirectoryEntry | File | null): source is FileSystemDirectoryEntry {
	return source !== null && 'isDirectory' in source;
}

async function readAll(sources: (FileSystemDirectoryEntry | File | null)[]): Promise<Chosen> {
	const chosen = emptyCollection();
	for (const source of sources) {
		if (isDirectory(source)) await readDirectory(source, [source.name], chosen);
		else if (source) chosen.files.push({ file: source, folder: rootPath });
	}
	return chosen;
}

/** Chromium opens all files that are asked for at once in one task, during which the page does nothing else. */
const openedTogether = 50;

async function readDirectory(
	directory: FileSystemDirectoryEntry,
	path: string[],
	chosen: CollectedFiles,
): Promise<void> {
	const folder = folderPath(path);
	const entries = folder === undefined ? undefined : await listDirectory(directory);
	if (folder === undefined || entries === undefined) {
		chosen.unreadable.push(path.join('/'));
		return;
	}
	if (entries.length === 0) chosen.emptyFolders.push(folder);
	const files = entries.filter((entry) => entry.isFile) as FileSystemFileEntry[];
	for (const some of batchesOf(files, openedTogether)) {
		for (const [index, file] of (await Promise.all(some.map(fileOf))).entries()) {
			if (file) chosen.files.push({ file, folder });
			else chosen.unreadable.push([...path, some[index]?.name].join('/'));
		}
	}
	for (const entry of entries) {
		if (entry.isDirectory) await readDirectory(entry as FileSystemDirectoryEntry, [...path, entry.name], chosen);
	}
}

/** The entries of a folder; undefined when it can't be read. */
async function listDirectory(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[] | undefined> {
	const reader = directory.createReader();
	const entries: FileSystemEntry[] = [];
	for (;;) {
		// The reader returns at most a hundred at a time, and none at the end.
		const batch = await new Promise<FileSystemEntry[] | undefined>((resolve) =>
			reader.readEntries(resolve, () => resolve(undefined)),
		);
		if (batch === undefined) return undefined;
		if (batch.length === 0) return entries;
		entries.push(...batch);
	}
}

function fileOf(entry: FileSystemFileEntry): Promise<File | undefined> {
	return new Promise((resolve) => entry.file(resolve, () => resolve(undefined)));
}

/** The path of these folders, trimmed as the server trims names; undefined if a name can't be part of a path. */
function folderPath(names: readonly string[]): StoragePath | undefined {
	const segments = names.map(trimName);
	return segments.every(isPathSegment) ? parsePath(segments.join('/')) : undefined;
}
