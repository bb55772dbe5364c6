/** What of a drop can be uploaded. */
export interface DroppedFiles {
	files: File[];
	/** Names of the folders that were left out. */
	folders: string[];
}

/** Takes the files out of a drop. Must be called while the event is handled: afterwards the browser empties it. */
export function droppedFiles({ items, files }: DataTransfer): DroppedFiles {
	const dropped: DroppedFiles = { files: [], folders: [] };
	if (items.length === 0) return { files: [...files], folders: [] };
	for (const item of items) {
		if (item.kind !== 'file') continue;
		const entry = item.webkitGetAsEntry();
		if (entry?.isDirectory) {
			dropped.folders.push(entry.name);
			continue;
		}
		const file = item.getAsFile();
		if (file) dropped.files.push(file);
	}
	return dropped;
}

/** Whether a drag brings files from outside of the page. */
export function bringsFiles(transfer: DataTransfer | null): boolean {
	return transfer?.types.includes('Files') ?? false;
}
