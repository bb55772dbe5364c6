import { accountFields, type Services, type UnfinishedUpload } from '@stowage/core';
import { Failure, formatListSize, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { durationOf } from '../commandLine/durations.js';
import { resolveId } from '../commandLine/resolveId.js';
import { printLine, printList, sizeCell, timeCell, timeText } from '../terminal/output.js';
import { confirm } from '../terminal/prompt.js';

interface Filter {
	user?: string;
	visitors?: true;
	root?: string;
	olderThan?: string;
}

/** How much of an id is listed: enough to tell it from all others. */
const shownLength = 16;

/** Unfinished uploads, whether the server runs or not. */
export function uploadCommand(): Command {
	return new Command('upload')
		.description('list or remove unfinished uploads')
		.addCommand(
			withFilter(
				appCommand<Filter & { json?: true }>({
					usage: 'list',
					description:
						'list unfinished uploads, the one written last first: id, user, storage root, area, size so far, total, begin, last bytes, expiry, path',
					examples: ['upload list', 'upload list --user ada', 'upload list --root big --older-than 1d --json'],
					without: ['visitors'],
					run: (services, _words, options) => listUploads(services, options, options.json),
				}),
			).option('--json', 'as JSON'),
		)
		.addCommand(
			withFilter(
				appCommand<Filter & { yes?: true }>({
					usage: 'remove [id...]',
					description:
						'end unfinished uploads with the bytes that came so far, by the beginnings of the ids that list prints, or all that a filter finds',
					examples: ['upload remove 0f5e8d1c2b3a4958', 'upload remove --root big', 'upload remove --visitors --yes'],
					without: ['visitors'],
					run: (services, ids, options) => removeUploads(services, ids, options, options.yes === true),
				}),
			).option('--yes', 'do not ask'),
		);
}

function withFilter(command: Command): Command {
	return command
		.option('--user <name>', 'of this user only')
		.option('--visitors', 'of visitors only')
		.option('--root <name>', 'on this storage root only')
		.option('--older-than <time>', 'only those whose last bytes came before, such as 1d or 12h');
}

async function findUploads(
	{ accounts, now, resumableUploads, roots }: Services,
	{ user, visitors, root, olderThan }: Filter,
): Promise<UnfinishedUpload[]> {
	if (user !== undefined && visitors) throw new Failure('invalid', 'Give --user or --visitors.');
	const owner = user === undefined ? undefined : await accounts.find(user);
	if (root !== undefined && !roots.all().some(({ name }) => name === root))
		throw new Failure('notFound', `There is no storage root ${root}.`);
	const before = olderThan === undefined ? Number.POSITIVE_INFINITY : now() - durationOf('--older-than', olderThan);
	return (await resumableUploads.listUnfinished()).filter(
		(each) =>
			(owner === undefined || each.userId === owner.id) &&
			(!visitors || each.userId === null) &&
			(root === undefined || each.root === root) &&
			each.touchedAt < before,
	);
}

async function listUploads(services: Services, filter: Filter, json: boolean | undefined): Promise<void> {
	const nameOf = await usernames(services);
	await printList(await findUploads(services, filter), {
		json,
		toJson: (upload) => ({
			id: upload.idHash,
			user: upload.userId === null ? null : nameOf(upload.userId),
			address: upload.address,
			root: upload.root ?? null,
			area: upload.area,
			directory: upload.directory,
			name: upload.name,
			offset: upload.offset,
			length: upload.length,
			startedAt: upload.startedAt === null ? null : timeText(upload.startedAt),
			touchedAt: timeText(upload.touchedAt),
			expiresAt: timeText(upload.expiresAt),
		}),
		columns: [
			...[{ title: 'ID' }, { title: 'USER' }, { title: 'ROOT' }, { title: 'AREA' }, { title: 'SO FAR' }],
			...[{ title: 'TOTAL' }, { title: 'BEGAN' }, { title: 'LAST BYTES' }, { title: 'EXPIRES' }],
			{ title: 'PATH', fit: 'cut' },
		],
		row: (upload) => [
			upload.idHash.slice(0, shownLength),
			upload.userId === null ? 'visitor' : nameOf(upload.userId),
			upload.root ?? '-',
			upload.area,
			sizeCell(upload.offset),
			sizeCell(upload.length),
			upload.startedAt === null ? '-' : timeCell(upload.startedAt),
			timeCell(upload.touchedAt),
			timeCell(upload.expiresAt),
			pathOf(upload),
		],
	});
}

async function removeUploads(
	services: Services,
	typed: readonly string[],
	filter: Filter,
	isAgreed: boolean,
): Promise<void> {
	// Not by the values of `filter`: it has the options for settings as well, such as --config.
	const { user, visitors, root, olderThan } = filter;
	const isFiltered = [user, visitors, root, olderThan].some((each) => each !== undefined);
	if (isFiltered === typed.length > 0)
		throw new Failure(
			'invalid',
			'Name uploads by their ids, or choose them by --user, --visitors, --root or --older-than.',
		);
	const { audit, resumableUploads } = services;
	const known = await findUploads(services, filter);
	const ids = new Set<string>();
	const hashes = known.map(({ idHash }) => idHash);
	if (isFiltered) for (const each of hashes) ids.add(each);
	else for (const each of typed) ids.add(await resolveId(each, hashes));
	if (isFiltered && ids.size > 0) {
		const bytes = formatListSize(known.reduce((sum, { offset }) => sum + offset, 0));
		await confirm(`Remove ${plural(ids.size, 'unfinished upload')} (${bytes} so far)?`, isAgreed);
	}
	const nameOf = await usernames(services);
	let removed = 0;
	for (const id of ids) {
		const upload = known.find(({ idHash }) => idHash === id);
		const target = upload && {
			...(upload.userId === null ? {} : accountFields({ id: upload.userId, username: nameOf(upload.userId) })),
			...{ area: upload.area, path: pathOf(upload), bytes: upload.offset },
		};
		try {
			await audit.recorded({ action: 'removeUpload', ...target }, () => resumableUploads.removeAny(id));
			removed++;
		} catch (error) {
			// One of a filter was finished meanwhile.
			if (!isFiltered || !(error instanceof Failure && error.kind === 'notFound')) throw error;
		}
	}
	printLine(`Removed ${plural(removed, 'upload')}.`);
}

function pathOf({ directory, name }: UnfinishedUpload): string {
	return directory === '' ? name : `${directory}/${name}`;
}

async function usernames({ accounts }: Services): Promise<(userId: string) => string> {
	const names = new Map((await accounts.list()).map(({ id, username }) => [id, username]));
	return (userId) => names.get(userId) ?? '(removed)';
}
