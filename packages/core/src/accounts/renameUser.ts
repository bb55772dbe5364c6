import type { KeyValueStore, StorageProvider, UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, foldUsername, homeRoot, isFailure, type StoragePath, undefinedIf } from '@stowage/rules';
import { z } from 'zod';
import { shellCommand } from '../shellCommand.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';

/** A rename that has begun and may not have ended. */
const pendingRename = z.object({ from: z.string(), to: z.string(), wasDisabled: z.boolean() });

type PendingRename = z.infer<typeof pendingRename>;

/** For how long a rename that was interrupted is remembered: until it is run again. */
const keptMs = 100 * 365 * 24 * 60 * 60_000;

interface Dependencies {
	users: UserStore;
	/** Renames that have not ended, by the id of the user. */
	renames: KeyValueStore;
	storage: MountedStorage;
}

/**
 * Renames an account and its home; sessions end. The plan is recorded first. Then the name changes, which reserves it, and the
 * account is disabled; then the home moves; then the account is enabled again. After an interruption the same call continues; until then
 * the user can't sign in.
 */
export async function renameUser(from: string, to: string, { users, renames, storage }: Dependencies): Promise<void> {
	const pendingOf = async (user: UserRecord | undefined) => user && pendingRenameOf(user.id, renames);
	const noSuchUser = new Failure('notFound', `There is no user ${from}.`);

	const begin = async (): Promise<{ id: string; plan: PendingRename }> => {
		const user = await users.find(from);
		const pending = await pendingOf(user);
		if (user === undefined) {
			const renamed = await users.find(to);
			const plan = await pendingOf(renamed);
			if (renamed === undefined || plan === undefined || foldUsername(plan.from) !== foldUsername(from))
				throw noSuchUser;
			return { id: renamed.id, plan };
		}
		if (pending !== undefined && pending.to === user.username) {
			if (pending.to === to) return { id: user.id, plan: pending };
			throw renamedHalf(pending);
		}
		if (user.username === to) throw new Failure('invalid', `The user is called ${to} already.`);
		const taken = (cause?: unknown) =>
			new Failure('alreadyExists', `This user name is already taken: ${to}`, { cause });
		const { homes } = await storage.findHomes(to);
		if (homes.some(({ name }) => name !== user.username)) throw taken();
		// Of a home whose disk is away this fails, before the account is disabled for a rename that can't end.
		await undefinedIf(storage.stat(homeRoot(user.username)), 'notFound');
		const plan = { from: user.username, to, wasDisabled: pending?.wasDisabled ?? user.isDisabled };
		await renames.set(user.id, plan, keptMs);
		try {
			await users.rename(user.id, to, true);
		} catch (error) {
			if (!isFailure(error, 'alreadyExists')) throw error;
			await renames.remove(user.id);
			throw taken(error);
		}
		return { id: user.id, plan };
	};

	const { id, plan } = await begin();
	await storage.homes.assignOfRename(plan.from, plan.to);
	await moveHome(storage, homeRoot(plan.from), homeRoot(plan.to));
	await users.setDisabled(id, plan.wasDisabled);
	await renames.remove(id);
}

async function pendingRenameOf(id: string, renames: Pick<KeyValueStore, 'get'>): Promise<PendingRename | undefined> {
	const row = await renames.get(id);
	return row === undefined ? undefined : pendingRename.parse(row);
}

/** Throws `conflict` for an account whose rename was cut off: its home may have the former name still. */
export async function assertNotHalfRenamed({ id, username }: UserRecord, renames: Pick<KeyValueStore, 'get'>) {
	const pending = await pendingRenameOf(id, renames);
	if (pending?.to === username) throw renamedHalf(pending);
}

function renamedHalf({ from, to }: PendingRename): Failure {
	return new Failure(
		'conflict',
		`The rename of ${from} to ${to} was cut off. First end it: ${shellCommand`stowage user rename ${from} ${to}`}`,
	);
}

/** Moves the home. Does nothing where it was moved before, or was never created. */
async function moveHome(storage: StorageProvider, from: StoragePath, to: StoragePath): Promise<void> {
	try {
		await storage.move(from, to);
	} catch (error) {
		if (isFailure(error, 'notFound')) return;
		if (!isFailure(error, 'alreadyExists')) throw error;
		throw new Failure(
			'conflict',
			`Both ${from} and ${to} lie in the storage. Bring what is in ${to} into ${from}, remove ${to}, and run the command again.`,
			{ cause: error },
		);
	}
}
