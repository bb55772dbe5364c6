import type { FilesAction, Services } from '@stowage/core';
import { Failure } from '@stowage/rules';
import { printLine } from '../../terminal/output.js';
import { isInteractive, prompt } from '../../terminal/prompt.js';

export interface RemoveOptions {
	keepFiles?: boolean;
	deleteFiles?: boolean;
	moveFilesTo?: string;
}

/** Removes an account. An option or the answer at the terminal decides on its files; without either they stay. */
export async function removeUser({ accounts }: Services, name: string, options: RemoveOptions): Promise<void> {
	const { username } = await accounts.find(name);
	const filesAction = await filesActionOf({ accounts }, username, options);
	const folder = await accounts.remove(username, filesAction);
	if (filesAction.kind === 'delete') printLine(`Removed ${username} with all files.`);
	else if (folder === undefined) printLine(`Removed ${username}. The files stay on disk.`);
	else if (filesAction.kind === 'move')
		printLine(`Removed ${username}. The files are in the private folder '${folder}' of ${filesAction.to.username}.`);
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
