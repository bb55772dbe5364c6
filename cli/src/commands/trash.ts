import { recoverTrash, type Services, type TrashRecord, type TrashSelection } from '@stowage/core';
import { Failure, formatListSize, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { durationOf } from '../commandLine/durations.js';
import { idOf } from '../commandLine/ids.js';
import { printEach, printLine, timeCell, timeText } from '../terminal/output.js';

interface SelectionOptions {
	user?: string;
	root?: string;
	olderThan?: string;
}

/** Items that are named. */
const maxNamed = 20;

/** Items that are read together. */
const pageSize = 1_000;

/** What users have deleted, whether the server runs or not. */
export function trashCommand(): Command {
	return new Command('trash')
		.description('list, restore and remove what users have deleted')
		.addCommand(
			withSelection(
				appCommand<SelectionOptions & { json?: boolean }>({
					usage: 'list',
					description: 'list what is in the trash, the oldest first',
					examples: ['trash list', 'trash list --user ada --older-than 7d', 'trash list --json'],
					run: listTrash,
				}).option('--json', 'as JSON'),
			),
		)
		.addCommand(
			appCommand<{ to?: string }>({
				usage: 'restore <id>',
				description:
					'put an item back to where it was, by the id that list prints or its beginning; a taken name gets a number',
				examples: ['trash restore 5f0c6f4e', 'trash restore 5f0c6f4e --to bob'],
				run: (services, [id = ''], { to }) => restoreItem(services, id, to),
			}).option('--to <user>', 'into the home of another user, such as where the account is gone'),
		)
		.addCommand(
			withSelection(
				appCommand<SelectionOptions & { all?: boolean }>({
					usage: 'purge [id]',
					description: 'remove one item or all that the options choose for good',
					examples: [
						'trash purge 5f0c6f4e',
						'trash purge --user ada',
						'trash purge --older-than 7d',
						'trash purge --all',
					],
					run: (services, [id], options) => purgeTrash(services, id, options),
				}).option('--all', 'everything of everybody'),
			),
		)
		.addCommand(
			appCommand({
				usage: 'recover',
				description: 'list again what the database does not know, as after it was lost, by the notes beside the items',
				examples: ['trash recover'],
				run: recoverAll,
			}),
		);
}

function withSelection(command: Command): Command {
	return command
		.option('--user <name>', 'only what that user has deleted')
		.option('--root <name>', 'only what is on that storage root')
		.option('--older-than <time>', 'only what was deleted so long ago, such as 12h or 7d');
}

async function selectionOf(services: Services, { user, root, olderThan }: SelectionOptions): Promise<TrashSelection> {
	const selection: TrashSelection = {};
	if (user !== undefined) selection.ownerId = await ownerIdOf(services, user);
	if (root !== undefined) selection.rootId = (await services.roots.named(root)).storage.rootId;
	if (olderThan !== undefined) selection.deletedUntil = services.now() - durationOf('--older-than', olderThan);
	return selection;
}

/** Also of a user whose account is gone. */
async function ownerIdOf({ accounts, database }: Services, name: string): Promise<string> {
	const user = await database.users.find(name);
	if (user !== undefined) return user.id;
	const namesNow = await currentNames({ database });
	for await (const { ownerId, ownerName } of itemsOf(database.trash, {}))
		if (ownerName === name && !namesNow.has(ownerId)) return ownerId;
	return (await accounts.find(name)).id;
}

/** The names of users by their ids: an item has the one that its owner had when it was deleted. */
async function currentNames({ database }: Pick<Services, 'database'>): Promise<Map<string, string>> {
	return new Map((await database.users.list()).map(({ id, username }) => [id, username]));
}

async function* itemsOf(store: Services['database']['trash'], selection: TrashSelection): AsyncGenerator<TrashRecord> {
	for (let after: TrashRecord | undefined; ; ) {
		const records = await store.list({ order: 'oldest', limit: pageSize, after, ...selection });
		yield* records;
		after = records.at(-1);
		if (records.length < pageSize) return;
	}
}

async function recoverAll({ audit, database, roots }: Services): Promise<void> {
	for (const mount of roots.all()) {
		const { recovered, unknown } = await audit.recorded(
			{ action: 'recoverTrash', root: mount.name },
			() => recoverTrash({ store: database.trash, users: database.users }, mount),
			({ recovered: entries }) => (entries === 0 ? undefined : { entries }),
		);
		printLine(`${mount.name}: ${plural(recovered, 'item')} listed again.`);
		if (unknown.length > 0)
			printLine(
				`Nothing says whose these were, in .stowage/trash: ${unknown.slice(0, maxNamed).join(', ')}${unknown.length > maxNamed ? ', ...' : ''}`,
			);
	}
}

async function listTrash(
	services: Services,
	_words: readonly string[],
	{ json, ...options }: SelectionOptions & { json?: boolean },
): Promise<void> {
	const { database, trash } = services;
	const namesNow = await currentNames({ database });
	const nameOf = ({ ownerId, ownerName }: Pick<TrashRecord, 'ownerId' | 'ownerName'>) =>
		namesNow.get(ownerId) ?? `${ownerName} (removed)`;
	await printEach(itemsOf(database.trash, await selectionOf(services, options)), {
		json: json === true,
		toJson: ({ id, path, type, size, deletedAt, deletedBy, ...owner }) => ({
			...{ id, user: namesNow.get(owner.ownerId) ?? null, formerUser: owner.ownerName },
			...{ path, type, size: size?.bytes ?? null, deletedBy },
			...{ deletedAt: timeText(deletedAt), expiresAt: timeText(deletedAt + trash.keepFor) },
		}),
		columns: [
			...[{ title: 'ID' }, { title: 'USER' }, { title: 'DELETED' }, { title: 'EXPIRES' }, { title: 'SIZE' }],
			{ title: 'PATH', fit: 'cut' },
		],
		row: ({ id, path, size, deletedAt, ...owner }) => [
			...[id, nameOf(owner), timeCell(deletedAt), timeCell(deletedAt + trash.keepFor)],
			...[size === undefined ? '-' : formatListSize(size.bytes), path],
		],
	});
}

async function* idsOf({ database }: Services): AsyncGenerator<string> {
	for await (const { id } of itemsOf(database.trash, {})) yield id;
}

async function restoreItem(services: Services, typed: string, to: string | undefined): Promise<void> {
	const id = await idOf(typed, idsOf(services));
	const record = await services.database.trash.get(id);
	if (record === undefined) throw new Failure('notFound', 'There is no such item in the trash.');
	const user = to === undefined ? await services.database.users.get(record.ownerId) : await services.accounts.find(to);
	if (user === undefined) {
		const reason = `The account of ${record.ownerName} is gone. Restore it into another home: --to <user>`;
		throw new Failure('conflict', reason);
	}
	const { username } = user;
	const { path } = await services.trash.restoreFor({ kind: 'user', id: user.id, username }, id);
	printLine(`Restored ${path} of ${username}.`);
}

async function purgeTrash(
	services: Services,
	typed: string | undefined,
	{ all, ...options }: SelectionOptions & { all?: boolean },
): Promise<void> {
	const selection = await selectionOf(services, options);
	if (typed !== undefined) selection.ids = [await idOf(typed, idsOf(services))];
	else if (Object.keys(selection).length === 0 && !all)
		throw new Failure('invalid', 'Name an item, or choose several by --user, --root, --older-than or --all.');
	const count = await services.trash.purgeAny(selection);
	await services.trashBin.removePurged();
	printLine(`Removed ${count}.`);
}
