import type { FilesAction, Services } from '@stowage/core';
import { Failure, formatListSize, plural, undefinedIf } from '@stowage/rules';
import { printLine } from '../../terminal/output.js';
import { isInteractive, prompt } from '../../terminal/prompt.js';

type TrashStore = Services['database']['trash'];
type TrashRecord = Awaited<ReturnType<TrashStore['inState']>>[number];

export interface RemoveOptions {
	keepFiles?: boolean;
	deleteFiles?: boolean;
	moveFilesTo?: string;
	deleteTrash?: boolean;
}

/** Removes an account. An option or the answer at the terminal decides on its files; without either they stay. */
export async function removeUser(services: Services, name: string, options: RemoveOptions): Promise<void> {
	const { accounts, trashBin, database } = services;
	const user = await undefinedIf(accounts.find(name), 'notFound');
	if (user === undefined) return removeTrashOfRemoved(services, name);
	const { id, username } = user;
	const filesAction = await filesActionOf({ accounts }, username, options);
	const { bytes, entries } = await trashBin.totals({ ownerId: id });
	if (filesAction.kind !== 'delete' && entries > 0)
		filesAction.purgesTrash = await purgesTrash(`${plural(entries, 'item')} (${formatListSize(bytes)})`, options);
	const folder = await accounts.remove(username, filesAction);
	if (filesAction.kind === 'delete') {
		await trashBin.removePurged();
		const left = await trashLeft(database.trash, ({ ownerId }) => ownerId === id);
		printLine(`Removed ${username}${withFiles(left.length)}`);
	} else if (filesAction.kind === 'keep') printLine(`Removed ${username}. The files stay on disk.`);
	// Never made, or moved by a command that was interrupted, or by another one at the same time.
	else if (folder === undefined) printLine(`Removed ${username}. There were no files left to move.`);
	else printLine(`Removed ${username}. The files are in the private folder '${folder}' of ${filesAction.to.username}.`);
}

function withFiles(left: number): string {
	if (left === 0) return ' with all files.';
	return `. Of the trash ${plural(left, 'item')} could not be removed yet, such as on a storage root that is away: that follows by itself.`;
}

/**
 * What is left to do where the account has gone already: a command that ended behind that, or a root that was away, may have left files of
 * its trash. Throws `notFound` where there are none.
 */
async function removeTrashOfRemoved({ trashBin, database }: Services, name: string): Promise<void> {
	const ofRemoved = async () => {
		const left = await trashLeft(database.trash, ({ ownerName }) => ownerName === name);
		const owners = await Promise.all(left.map(({ ownerId }) => database.users.get(ownerId)));
		return left.filter((_, index) => owners[index] === undefined).length;
	};
	if ((await ofRemoved()) === 0) throw new Failure('notFound', `There is no user ${name}.`);
	await trashBin.removePurged();
	printLine(`There is no user ${name} any more: removed${withFiles(await ofRemoved())}`);
}

/** The items that are gone for everybody, and still on a disk. */
async function trashLeft(trash: TrashStore, isCounted: (record: TrashRecord) => boolean): Promise<TrashRecord[]> {
	const limit = 200;
	const left: TrashRecord[] = [];
	for (let skip = 0; ; skip += limit) {
		const found = await trash.inState('purging', { limit, skip });
		left.push(...found.filter(isCounted));
		if (found.length < limit) return left;
	}
}

/** Whether the user's trash is deleted, too. It stays until it expires if nobody can be asked. */
async function purgesTrash(content: string, { deleteTrash }: RemoveOptions): Promise<boolean> {
	if (deleteTrash || !isInteractive()) return deleteTrash === true;
	const answer = await prompt(
		`What becomes of the ${content} in the trash? 'keep' them until they expire, or 'delete' them: `,
	);
	if (answer !== 'keep' && answer !== 'delete')
		throw new Failure('invalid', 'Cancelled: the answer is keep or delete.');
	return answer === 'delete';
}

async function filesActionOf(
	{ accounts }: Pick<Services, 'accounts'>,
	username: string,
	{ keepFiles, deleteFiles, moveFilesTo }: RemoveOptions,
): Promise<FilesAction> {
	const chosen = [keepFiles, deleteFiles, moveFilesTo].filter((option) => option !== undefined);
	if (chosen.length > 1) throw new Failure('invalid', 'Give one of --keep-files, --delete-files and --move-files-to.');
	if (moveFilesTo !== undefined) return { kind: 'move', to: await accounts.find(moveFilesTo) };
	if (deleteFiles) return { kind: 'delete' };
	if (keepFiles || !isInteractive()) return { kind: 'keep' };
	const answer = await prompt(
		`What becomes of the files of ${username}? 'keep' them on disk, 'delete' them, or 'move' them to another user: `,
	);
	if (answer === 'keep' || answer === 'delete') return { kind: answer };
	if (answer !== 'move') throw new Failure('invalid', 'Cancelled: the answer is keep, delete or move.');
	return { kind: 'move', to: await accounts.find(await prompt('To which user: ')) };
}
