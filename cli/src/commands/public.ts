import { removeVisitorFile, type Services, type VisitorFile, visitorFiles } from '@stowage/core';
import { anonymousOwner, formatListSize, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { durationOf } from '../commandLine/durations.js';
import { printError, printLine, printList, sizeCell, timeCell, timeText } from '../terminal/output.js';
import { type Progress, withProgress } from '../terminal/Progress.js';
import { confirm } from '../terminal/prompt.js';

/** The files that visitors have uploaded. */
export function publicCommand(): Command {
	return new Command('public')
		.description('list or remove what visitors have uploaded')
		.addCommand(
			appCommand<{ olderThan?: string; json?: boolean }>({
				usage: 'list',
				description: 'list the files of visitors, the oldest first',
				examples: ['public list', 'public list --older-than 30d --json'],
				async run(services, _words, { olderThan, json }) {
					const files = await withProgress({ json }, (progress) => findFiles(services, olderThan, progress));
					await printList(files, {
						json,
						toJson: ({ path, size, arrivedAt }) => ({ path, size, arrivedAt: timeText(arrivedAt) }),
						columns: [{ title: 'UPLOADED' }, { title: 'SIZE' }, { title: 'PATH', fit: 'cut' }],
						row: ({ path, size, arrivedAt }) => [timeCell(arrivedAt), sizeCell(size), path],
					});
				},
			})
				.option('--older-than <time>', 'only those that came before, such as 30d or 12h')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ olderThan: string; permanent?: boolean; yes?: boolean }>({
				usage: 'purge',
				description:
					'move the files of visitors that came before a time to the trash, and remove the folders that this leaves empty',
				examples: [
					'public purge --older-than 30d',
					'public purge --older-than 12h --yes',
					'public purge --older-than 30d --permanent',
				],
				async run(services, _words, { olderThan, permanent, yes }) {
					const files = await withProgress({}, (progress) => findFiles(services, olderThan, progress));
					const isForGood = permanent === true || !services.trashBin.isOn;
					const what = `${plural(files.length, 'file')} of visitors (${formatListSize(files.reduce((sum, file) => sum + file.size, 0))})`;
					const question = isForGood ? `Remove ${what} for good?` : `Move ${what} to the trash?`;
					if (files.length > 0) await confirm(question, yes === true);
					const removed = await withProgress({}, (progress) => removeAll(services, files, isForGood, progress));
					printLine(
						isForGood ? `Removed ${plural(removed, 'file')}.` : `Moved ${plural(removed, 'file')} to the trash.`,
					);
				},
			})
				.requiredOption('--older-than <time>', 'such as 30d or 12h')
				.option('--permanent', 'remove them for good, so that their space is free at once')
				.option('--yes', 'do not ask'),
		);
}

/** Resolves to how many were removed; the others were removed or replaced meanwhile. */
async function removeAll(
	{ storage, trashBin, audit }: Services,
	files: readonly VisitorFile[],
	isForGood: boolean,
	progress: Progress,
): Promise<number> {
	progress.begin({ what: 'Removing', unit: 'file', total: { count: files.length } });
	let removed = 0;
	for (const file of files) {
		const { isRemoved, trashId } = await removeVisitorFile(storage, file, isForGood ? undefined : trashBin.moves);
		progress.advance({ count: 1 });
		if (!isRemoved) continue;
		removed++;
		const { path, size: bytes } = file;
		const kept = trashId === undefined ? {} : { trash: trashId };
		audit.record({ action: 'delete', area: 'public', owner: anonymousOwner, path, bytes, ...kept }, { outcome: 'ok' });
	}
	return removed;
}

async function findFiles(
	{ storage, now }: Services,
	olderThan: string | undefined,
	progress: Progress,
): Promise<VisitorFile[]> {
	const before = olderThan === undefined ? Number.POSITIVE_INFINITY : now() - durationOf('--older-than', olderThan);
	const files: VisitorFile[] = [];
	progress.begin({ what: 'Looking for files', unit: 'file' });
	const unreadable: string[] = [];
	for await (const file of visitorFiles(storage, before, (each) => unreadable.push(each))) {
		files.push(file);
		progress.advance({ count: 1 });
	}
	for (const each of unreadable) printError(`Can't be read, and is left out: ${each}`);
	return files.sort((a, b) => a.arrivedAt - b.arrivedAt);
}
