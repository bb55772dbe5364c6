import {
	assertUnmounted,
	type Job,
	type JobRecord,
	type JobStore,
	type MemberStore,
	type StorageProvider,
	type UserRecord,
	type UserStore,
} from '@stowage/plugin-api';
import { Failure, formatListSize, homeRoot, isFailure, parsePath, plural, type StoragePath } from '@stowage/rules';
import type { JobService } from '../jobs/createJobs.js';
import { jobLimits } from '../jobs/jobLimits.js';
import { shellCommand } from '../shellCommand.js';
import { measureHome } from '../trees/across/walkHome.js';
import { assertUsable } from '../trees/roots/assertUsable.js';
import { hasHome } from '../trees/roots/HomeMounts.js';
import { availableSpace } from '../trees/space/freeSpace.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { findOldHomes, type OldHome } from './findOldHomes.js';
import type { HomeMoveParts } from './HomeMove.js';
import { homeMoveKind, homeMoveName } from './homeMoveKind.js';
import { LostAccess } from './lostAccess.js';

/** Folders with members that are named. */
const maxFolders = 20;

export interface HomeMoves {
	/**
	 * Starts a job that moves the home of a user to another root. Throws, before anything is done, if the move is not
	 * possible, and `conflict` with a list if the other root can't keep what other programs may do with its files
	 * (owners, groups, modes, ACLs), or the members of its folders, unless that is allowed.
	 */
	start(username: string, rootName: string, options?: { allowsLostAccess?: boolean }): Promise<Job>;
	/** All homes that are being moved. */
	list(): Promise<MovingHome[]>;
	/** The former trees of homes on roots that they have left, except those being moved. */
	oldHomes(): Promise<OldHome[]>;
	/** The job that currently moves the home of a user, and the name of the target root. */
	underWay(userId: string): Promise<{ job: JobRecord; root: string | undefined } | undefined>;
}

interface MovingHome {
	job: JobRecord;
	username: string;
	/** Where to; nothing where that root is no more. */
	root: string | undefined;
	/** Whether a process is moving it. A killed process counts for as long as its lease. */
	isRunning: boolean;
}

interface Dependencies extends HomeMoveParts {
	jobs: JobService;
	jobStore: Pick<JobStore, 'listHeld'>;
	users: Pick<UserStore, 'find' | 'list'>;
}

export function createHomeMoves(parts: Dependencies): HomeMoves {
	const { jobs, jobStore, users, roots, config } = parts;
	const { homes, members } = parts.database;
	const starter = jobs.define(homeMoveKind(parts));

	const targetOf = async ({ id, userId }: JobRecord): Promise<string | undefined> => {
		const { input } = await starter.find({ kind: 'user', id: userId, username: '' }, id);
		await roots.reload();
		return roots.records.find(({ rootId }) => rootId === input.rootId)?.name;
	};

	const moves: HomeMoves = {
		async start(username, rootName, { allowsLostAccess = false } = {}) {
			const user = await users.find(username);
			if (user === undefined) throw new Failure('notFound', `There is no user ${username}.`);
			if (user.isDisabled)
				throw new Failure('conflict', `${username} is disabled. A home is moved only while its account is enabled.`);
			const home = homeRoot(user.username);
			const target = await roots.named(rootName);
			const source = await roots.homes.mountOf(user.username);
			if (source === target) throw liesThere(user.username, rootName);
			for (const root of [source, target]) await assertUsable(root);
			if (await hasHome(target.storage, user.username)) {
				// A move that was under way a moment ago may have ended since: then nothing is in the way.
				if ((await roots.homes.mountOf(user.username)) === target) throw liesThere(user.username, rootName);
				throw new Failure(
					'alreadyExists',
					`There is a folder ${home} on ${rootName} already, which is nobody’s home. Move it away first.`,
				);
			}
			await assertUnmounted(source.storage, home);
			const lost = new LostAccess(source.storage, home, target.storage);
			const { bytes } = await measureHome(source.storage, home, new AbortController().signal, (path, type) =>
				lost.add(path, type),
			);
			if (!allowsLostAccess) {
				assertNothingLost(user.username, rootName, {
					access: lost.describe(),
					members: await foldersLosingMembers(members, user.id, { source: source.storage, target: target.storage }),
				});
			}
			const available = Math.max(0, await availableSpace(target.storage, config.uploads));
			if (bytes > available) {
				throw new Failure(
					'storageFull',
					`The home of ${user.username} has ${formatListSize(bytes)}, and on ${rootName} there is room for ${formatListSize(available)}.`,
				);
			}
			const owner = { kind: 'user', id: user.id, username: user.username } as const;
			const input = { rootId: target.storage.rootId };
			return starter.start(owner, input, `Move the home to ${rootName}`, { orderedBy: 'administrator' });
		},

		async list() {
			const usernames = new Map((await users.list()).map(({ id, username }) => [id, username]));
			const held = (await jobStore.listHeld(jobLimits.leaseMs)).filter(({ isExpired }) => !isExpired);
			const found: MovingHome[] = [];
			for (const job of (await jobs.listOf()).filter(isUnderWay)) {
				const username = usernames.get(job.userId) ?? '(removed)';
				try {
					found.push({ job, username, root: await targetOf(job), isRunning: held.some(({ id }) => id === job.id) });
				} catch (error) {
					// It has ended meanwhile and is forgotten.
					if (!isFailure(error, 'notFound')) throw error;
				}
			}
			return found;
		},

		async oldHomes() {
			// Checked before and after: a tree that has just arrived, or just left, is no old one.
			const before = await moves.list();
			const found = await findOldHomes({ roots, homes, users });
			const moving = new Set([...before, ...(await moves.list())].map(({ username }) => username));
			return found.filter(({ username }) => !moving.has(username));
		},

		async underWay(userId) {
			const job = await findHomeMove(jobs, userId);
			return job && { job, root: await targetOf(job) };
		},
	};
	return moves;
}

const isUnderWay = ({ kind, endTime }: JobRecord) => kind === homeMoveName && endTime === null;

async function findHomeMove(jobs: Pick<JobService, 'listOf'>, userId: string): Promise<JobRecord | undefined> {
	return (await jobs.listOf(userId)).find(isUnderWay);
}

/**
 * Throws `conflict` until the move of a user's home has ended, which goes by the user's name: also while it waits, or old files and the
 * trash are still to follow.
 */
export async function assertNotMoving(
	jobs: Pick<JobService, 'listOf'>,
	{ id, username }: Pick<UserRecord, 'id' | 'username'>,
): Promise<void> {
	const job = await findHomeMove(jobs, id);
	if (job === undefined) return;
	throw new Failure(
		'conflict',
		`The home of ${username} is on its way to another root. Wait until it is there, with all that follows it, or end that: ${shellCommand`stowage job cancel ${job.id}`}`,
	);
}

function liesThere(username: string, rootName: string): Failure {
	return new Failure('invalid', `The home of ${username} lies on ${rootName} already.`);
}

/** The folders of a home whose members end as they are changed, since the other root does not tell them from later ones. */
async function foldersLosingMembers(
	members: Pick<MemberStore, 'list'>,
	ownerId: string,
	{ source, target }: Record<'source' | 'target', Pick<StorageProvider, 'stat'>>,
): Promise<StoragePath[]> {
	const root = parsePath('');
	if ((await source.stat(root)).mayReuseId || !(await target.stat(root)).mayReuseId) return [];
	return (await members.list(ownerId)).map(({ path }) => path).filter((path) => !isTrashedLink(path));
}

function assertNothingLost(
	username: string,
	rootName: string,
	{ access, members }: { access: readonly string[]; members: readonly StoragePath[] },
): void {
	if (access.length === 0 && members.length === 0) return;
	const named = members.slice(0, maxFolders).map((path) => JSON.stringify(path));
	const sentences = [
		...(access.length === 0
			? []
			: [`On ${rootName} other programs could no longer use the files of ${username} as they can now.`]),
		...(members.length === 0
			? []
			: [
					`On ${rootName} a folder has its members only until something in it is changed: that disk does not tell folders from later ones.`,
				]),
		'Nothing was moved.',
	];
	const losses = [
		...access,
		...(members.length === 0
			? []
			: [
					`${plural(members.length, 'folder', 'folders')} with members: ${named.join(', ')}${members.length > named.length ? ', …' : ''}`,
				]),
	];
	throw new Failure(
		'conflict',
		`${sentences.join(' ')}\n${losses.map((loss) => `- ${loss}`).join('\n')}\nTo move them all the same: ${shellCommand`stowage user move-root --allow-lost-access ${username} ${rootName}`}`,
	);
}
