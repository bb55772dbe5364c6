import type { Services, TrashRecord } from '@stowage/core';
import { Failure, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { resolveId } from '../commandLine/resolveId.js';
import {
	currentNames,
	idsOf,
	recordsOf,
	type SelectionOptions,
	selectionOf,
	sumOf,
	withSelection,
} from '../commandLine/trashSelection.js';
import { printEach, printLine, sizeCell, timeCell, timeText } from '../terminal/output.js';

/** The former contents of files that were replaced, whether the server runs or not. */
export function versionsCommand(): Command {
	return new Command('versions')
		.description('list and remove the former contents of files that users have replaced')
		.addCommand(
			withSelection(
				appCommand<SelectionOptions & { json?: boolean }>({
					usage: 'list',
					description: 'list the versions of files, the oldest first',
					examples: ['versions list', 'versions list --user ada --older-than 7d', 'versions list --json'],
					run: listVersions,
				}).option('--json', 'as JSON'),
				'replaced',
			),
		)
		.addCommand(
			withSelection(
				appCommand<SelectionOptions & { all?: boolean }>({
					usage: 'purge [id]',
					description: 'remove one version or all that the options choose for good',
					examples: [
						'versions purge 5f0c6f4e',
						'versions purge --user ada',
						'versions purge --older-than 7d',
						'versions purge --all',
					],
					run: (services, [id], options) => purgeVersions(services, id, options),
				}).option('--all', 'all versions of everybody'),
				'replaced',
			),
		);
}

async function listVersions(
	services: Services,
	_words: readonly string[],
	{ json, ...options }: SelectionOptions & { json?: boolean },
): Promise<void> {
	const { database, versions } = services;
	const namesNow = await currentNames({ database });
	const nameOf = ({ ownerId, ownerName }: Pick<TrashRecord, 'ownerId' | 'ownerName'>) =>
		namesNow.get(ownerId) ?? `${ownerName} (removed)`;
	await printEach(recordsOf(services, 'version', await selectionOf(services, 'version', options)), {
		json: json === true,
		toJson: ({ id, path, size, mtime, deletedAt, deletedBy, ...owner }) => ({
			...{ id, user: namesNow.get(owner.ownerId) ?? null, formerUser: owner.ownerName },
			...{ path, size: size.bytes, modifiedAt: timeText(mtime), replacedBy: deletedBy },
			...{ replacedAt: timeText(deletedAt), expiresAt: timeText(deletedAt + versions.keepFor) },
		}),
		columns: [
			...[{ title: 'ID' }, { title: 'USER' }, { title: 'REPLACED' }, { title: 'EXPIRES' }, { title: 'SIZE' }],
			{ title: 'PATH', fit: 'cut' },
		],
		row: ({ id, path, size, deletedAt, ...owner }) => [
			...[id, nameOf(owner), timeCell(deletedAt), timeCell(deletedAt + versions.keepFor)],
			...[sizeCell(size.bytes), path],
		],
	});
}

async function purgeVersions(
	services: Services,
	typed: string | undefined,
	{ all, ...options }: SelectionOptions & { all?: boolean },
): Promise<void> {
	const selection = await selectionOf(services, 'version', options);
	if (typed !== undefined) selection.ids = [await resolveId(typed, idsOf(services, 'version'))];
	else if (Object.keys(selection).length === 0 && !all)
		throw new Failure('invalid', 'Name a version, or choose several by --user, --root, --older-than or --all.');
	const purged = await services.versions.purgeAny(selection);
	await services.trashBin.removePurged();
	printLine(`Removed ${plural(sumOf(purged), 'version')}.`);
}
