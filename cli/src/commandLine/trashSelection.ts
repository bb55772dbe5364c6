import type { PurgedOfOwner, Services, TrashRecord, TrashSelection } from '@stowage/core';
import { anonymousOwner, Failure } from '@stowage/rules';
import type { Command } from 'commander';
import { durationOf } from './durations.js';

export interface SelectionOptions {
	user?: string;
	/** Selects only what visitors have uploaded. */
	public?: boolean;
	root?: string;
	olderThan?: string;
}

type Kind = TrashRecord['kind'];
type RecordOf<K extends Kind> = Extract<TrashRecord, { kind: K }>;

/** How many records are read at once. */
const pageSize = 1_000;

/** The options by which items of the trash, or versions, are chosen; `what` is what has happened to them. */
export function withSelection(command: Command, what: 'deleted' | 'replaced'): Command {
	return command
		.option('--user <name>', `only what that user has ${what}`)
		.option('--root <name>', 'only what is on that storage root')
		.option('--older-than <time>', `only what was ${what} so long ago, such as 12h or 7d`);
}

export async function selectionOf(
	services: Services,
	kind: Kind,
	{ user, public: isPublic, root, olderThan }: SelectionOptions,
): Promise<Omit<TrashSelection, 'kind'>> {
	const selection: Omit<TrashSelection, 'kind'> = {};
	if (user !== undefined && isPublic) throw new Failure('invalid', 'Choose either --user or --public.');
	if (user !== undefined) selection.ownerId = await ownerIdOf(services, kind, user);
	if (isPublic) selection.ownerId = anonymousOwner;
	if (root !== undefined) selection.rootId = (await services.roots.named(root)).storage.rootId;
	if (olderThan !== undefined) selection.deletedUntil = services.now() - durationOf('--older-than', olderThan);
	return selection;
}

/** How many items were removed of all users. */
export function sumOf(purged: readonly PurgedOfOwner[]): number {
	return purged.reduce((sum, { entries }) => sum + entries, 0);
}

/** The id of a user, also of one whose account is gone. */
async function ownerIdOf(services: Services, kind: Kind, name: string): Promise<string> {
	const { accounts, database } = services;
	const user = await database.users.find(name);
	if (user !== undefined) return user.id;
	const namesNow = await currentNames({ database });
	for await (const { ownerId, ownerName } of recordsOf(services, kind, {}))
		if (ownerName === name && !namesNow.has(ownerId)) return ownerId;
	return (await accounts.find(name)).id;
}

/** The names of users by their ids: an item has the one that its owner had when it was deleted. */
export async function currentNames({ database }: Pick<Services, 'database'>): Promise<Map<string, string>> {
	return new Map((await database.users.list()).map(({ id, username }) => [id, username]));
}

/** The selected records, the oldest first. */
export async function* recordsOf<K extends Kind>(
	{ database, trashBin }: Services,
	kind: K,
	selection: Omit<TrashSelection, 'kind'>,
): AsyncGenerator<RecordOf<K>> {
	await trashBin.recordAll();
	for (let after: RecordOf<K> | undefined; ; ) {
		const records = await database.trash.list({ order: 'oldest', limit: pageSize, after, ...selection, kind });
		yield* records;
		after = records.at(-1);
		if (records.length < pageSize) return;
	}
}

export async function* idsOf(services: Services, kind: Kind): AsyncGenerator<string> {
	for await (const { id } of recordsOf(services, kind, {})) yield id;
}
