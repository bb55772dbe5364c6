import {
	accountFields,
	assignTrash,
	findOwnersByName,
	recoverTrash,
	type Services,
	type TrashRecord,
} from '@stowage/core';
import { anonymousOwner, Failure, plural, type User, type Visitor } from '@stowage/rules';
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
import { printEach, printError, printLine, sizeCell, timeCell, timeText } from '../terminal/output.js';

const publicOption = ['--public', 'only what visitors had uploaded, which stowage public purge has deleted'] as const;

/** How many items without an owner are named. */
const maxNamed = 20;

/** What was deleted, whether the server runs or not. */
export function trashCommand(): Command {
	return new Command('trash')
		.description('list, restore and remove what was deleted')
		.addCommand(
			withSelection(
				appCommand<SelectionOptions & { json?: boolean }>({
					usage: 'list',
					description: 'list what is in the trash, the oldest first',
					examples: ['trash list', 'trash list --user ada --older-than 7d', 'trash list --json'],
					run: listTrash,
				}).option('--json', 'as JSON'),
				'deleted',
			).option(...publicOption),
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
						'trash purge --public',
						'trash purge --older-than 7d',
						'trash purge --all',
					],
					run: (services, [id], options) => purgeTrash(services, id, options),
				}).option('--all', 'everything of everybody'),
				'deleted',
			).option(...publicOption),
		)
		.addCommand(
			appCommand<{ byName?: boolean }>({
				usage: 'recover',
				description: 'list again what the database does not know, as after it was lost, by the notes beside the items',
				examples: ['trash recover', 'trash recover --by-name'],
				run: (services, _words, { byName }) => recoverAll(services, byName === true),
			}).option('--by-name', 'give what was of accounts that are gone to those that have their names now'),
		);
}

async function recoverAll({ audit, database, roots, storage }: Services, isByName: boolean): Promise<void> {
	const { trash: store, users } = database;
	const byName = isByName ? await findOwnersByName({ users }, roots.all()) : undefined;
	const withoutAccount = new Set<string>();
	const recordGiven = async (given: ReadonlyMap<string, number>) => {
		for (const [id, entries] of given) {
			const { username = '(removed)' } = (await users.get(id)) ?? {};
			const event = { action: 'recoverTrash', ...accountFields({ id, username }), detail: 'by name', entries } as const;
			audit.record(event, { outcome: 'ok' });
		}
	};
	for (const mount of roots.all()) {
		const result = await audit.recorded(
			{ action: 'recoverTrash', root: mount.name },
			() => recoverTrash({ store, users, storage }, mount, byName),
			({ recovered: entries }) => (entries === 0 ? undefined : { entries }),
		);
		await recordGiven(result.given);
		const { recovered, unknown } = result;
		printLine(`${mount.name}: ${plural(recovered, 'item')} listed again.`);
		if (unknown.length > 0) printLine(`Nothing says whose these were, in .stowage/trash: ${firstOf(unknown)}`);
		for (const name of result.withoutAccount) withoutAccount.add(name);
	}
	if (byName !== undefined) {
		// What failed is recorded; what was given has a line for each account.
		const given = await audit.recorded(
			{ action: 'recoverTrash', detail: 'by name' },
			() => assignTrash(store, byName),
			() => undefined,
		);
		await recordGiven(given);
		const assigned = [...given.values()].reduce((sum, count) => sum + count, 0);
		if (assigned > 0) printLine(`${plural(assigned, 'item')} given to the accounts that have the names now.`);
	}
	if (withoutAccount.size > 0)
		printLine(
			`Some are of accounts that are gone (${firstOf([...withoutAccount])}): trash restore <id> --to <user>. If the database was lost, and these people have new accounts of the same names: trash recover --by-name`,
		);
	const refused = byName?.refused ?? [];
	for (const { username, accounts, items } of refused)
		printError(`${accounts} accounts called ${username} are gone, and ${plural(items, 'item')} of theirs wait.`);
	if (refused.length > 0)
		throw new Failure(
			'conflict',
			'Whose of them the account of now is, the name does not tell. Look what they are (trash list), and restore them: trash restore <id> --to <user>',
		);
}

function firstOf(names: readonly string[]): string {
	return `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ', ...' : ''}`;
}

async function listTrash(
	services: Services,
	_words: readonly string[],
	{ json, ...options }: SelectionOptions & { json?: boolean },
): Promise<void> {
	const { database, trash } = services;
	const namesNow = await currentNames({ database });
	const nameOf = ({ ownerId, ownerName }: Pick<TrashRecord, 'ownerId' | 'ownerName'>) =>
		ownerId === anonymousOwner ? anonymousOwner : (namesNow.get(ownerId) ?? `${ownerName} (removed)`);
	await printEach(recordsOf(services, 'item', await selectionOf(services, 'item', options)), {
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
			...[size === undefined ? '-' : sizeCell(size.bytes), path],
		],
	});
}

async function restoreItem(services: Services, typed: string, to: string | undefined): Promise<void> {
	const id = await resolveId(typed, idsOf(services, 'item'));
	const record = await services.database.trash.get(id);
	if (record === undefined) throw new Failure('notFound', 'There is no such item in the trash.');
	const owner = await restoringOwner(services, record, to);
	const { path } = await services.trash.restoreFor(owner, id);
	printLine(`Restored ${path} of ${owner.kind === 'user' ? owner.username : 'visitors'}.`);
}

/** Whose home an item is restored to. */
async function restoringOwner(
	{ accounts, database }: Services,
	{ ownerId, ownerName }: Pick<TrashRecord, 'ownerId' | 'ownerName'>,
	to: string | undefined,
): Promise<User | Visitor> {
	if (to === undefined && ownerId === anonymousOwner) return { kind: 'anonymous', access: 'upload' };
	const user = to === undefined ? await database.users.get(ownerId) : await accounts.find(to);
	if (user === undefined) {
		const reason = `The account of ${ownerName} is gone. Restore it into another home: --to <user>`;
		throw new Failure('conflict', reason);
	}
	return { kind: 'user', id: user.id, username: user.username };
}

async function purgeTrash(
	services: Services,
	typed: string | undefined,
	{ all, ...options }: SelectionOptions & { all?: boolean },
): Promise<void> {
	const selection = await selectionOf(services, 'item', options);
	if (typed !== undefined) selection.ids = [await resolveId(typed, idsOf(services, 'item'))];
	else if (Object.keys(selection).length === 0 && !all)
		throw new Failure('invalid', 'Name an item, or choose several by --user, --public, --root, --older-than or --all.');
	const purged = await services.trash.purgeAny(selection);
	await services.trashBin.removePurged();
	printLine(`Removed ${plural(sumOf(purged), 'item')}.`);
}
