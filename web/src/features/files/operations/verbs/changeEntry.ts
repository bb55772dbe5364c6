import { createFile, createFolder, renameItem } from '@stowage/contract';
import type { Area, Entry } from '@stowage/rules';
import { call } from '../../../../api/client/client.js';
import { fetchVersions, restoreVersion as restore, type Version } from '../../../../api/versions.js';
import { dialogMessages as messages } from '../../dialogs/messages.js';
import { undoRename, undoRestoredVersion } from '../../undo/reversals.js';
import { versionTime } from '../../versions/versionTime.js';
import { operationMessages } from '../messages.js';
import { type OperationParts, withOwner } from './OperationParts.js';

/** Creates a file or folder and shows it. Resolves to whether that succeeded. */
export async function create(parts: OperationParts, what: 'file' | 'folder', name: string): Promise<boolean> {
	const { directory, area, outcomes, show } = parts;
	const place = { directory, type: area };
	const send = () =>
		what === 'file'
			? call(createFile, { payload: { ...place, fileName: name } })
			: call(createFolder, { payload: { ...place, folderName: name } });
	const { title, failed } = messages.createDialog[what];
	const entry = await change(parts, title, failed, send, []);
	if (!entry) return false;
	outcomes.succeeded(operationMessages.created(entry.name));
	show(entry);
	return true;
}

/** Resolves to whether that succeeded. */
export async function rename(parts: OperationParts, entry: Entry, newName: string): Promise<boolean> {
	const { area, outcomes, show, remember } = parts;
	const payload = withOwner({ oldPath: entry.path, newName, type: area }, entry);
	const send = () => call(renameItem, { payload });
	const renamed = await change(parts, messages.rename, operationMessages.renameFailed, send, [entry]);
	if (!renamed) return false;
	outcomes.succeeded(operationMessages.renamed(renamed.name), remember(undoRename(area, entry, renamed)));
	show(renamed);
	return true;
}

/** Makes one of these versions the content of a file again. Resolves to whether that succeeded. */
export async function restoreVersion(
	parts: OperationParts,
	entry: Entry,
	version: Version,
	known: readonly Version[],
): Promise<boolean> {
	const { area, outcomes, show, remember } = parts;
	const send = async () => ({ entry: await restore(area, entry.path, version.id) });
	const title = operationMessages.restoringVersion(entry.name);
	const restored = await change(parts, title, operationMessages.restoreVersionFailed, send, [entry]);
	if (!restored) return false;
	const offer = remember(undoRestoredVersion(area, restored, known, await versionsOf(area, restored.path)));
	outcomes.succeeded(operationMessages.versionRestored(restored.name, versionTime(version.mtime)), offer);
	show(restored);
	return true;
}

/** One call that changes one entry and responds with it. Resolves to undefined if it failed, which a notice says. */
async function change(
	{ runBatch, patch, outcomes, refetch }: OperationParts,
	title: string,
	failure: string,
	send: () => Promise<{ entry: Entry }>,
	removed: Entry[],
): Promise<Entry | undefined> {
	let entry: Entry | undefined;
	const outcome = await runBatch(title, [undefined], async () => {
		({ entry } = await send());
	});
	if (entry) patch({ removed, added: [entry] });
	else outcomes.failed(failure, outcome.reason);
	// Also after a failure, which often means that the folder has changed.
	refetch();
	return entry;
}

/** The versions of a file; none if they can't be fetched. */
async function versionsOf(area: Area, path: string): Promise<readonly Version[]> {
	return fetchVersions(area, path).catch(() => []);
}
