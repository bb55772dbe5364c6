import type { Job, JobRecord, UserStore } from '@stowage/plugin-api';
import { Failure, formatListSize, homeRoot, isFailure } from '@stowage/rules';
import type { JobService } from '../jobs/createJobs.js';
import { availableSpace } from '../storage/freeSpace.js';
import type { Mount } from '../storage/MountedStorage.js';
import { type HomeMoveDependencies, homeMoveKind, homeMoveName } from './homeMoveKind.js';
import { measureHome } from './walkHome.js';

export interface HomeMoves {
	/** Starts moving the home of a user to another root, as a job. Throws what speaks against it, before anything is done. */
	start(username: string, rootName: string): Promise<Job>;
	/** The job that moves the home of a user right now, and the name of the root that it goes to. */
	underWay(userId: string): Promise<{ job: JobRecord; root: string | undefined } | undefined>;
}

interface Dependencies extends HomeMoveDependencies {
	jobs: JobService;
	users: Pick<UserStore, 'find'>;
}

export function createHomeMoves(parts: Dependencies): HomeMoves {
	const { jobs, users, roots, config } = parts;
	const starter = jobs.define(homeMoveKind(parts));

	const moves: HomeMoves = {
		async start(username, rootName) {
			const user = await users.find(username);
			if (user === undefined) throw new Failure('notFound', `There is no user ${username}.`);
			if (user.isDisabled)
				throw new Failure('conflict', `${username} is disabled. A home is moved only while its account is enabled.`);
			const home = homeRoot(user.username);
			const target = await roots.named(rootName);
			const source = await roots.ofHome(user.username);
			if (source === target) throw new Failure('invalid', `The home of ${user.username} lies on ${rootName} already.`);
			for (const root of [source, target]) await assertUsable(root);
			if (await isThere(target, home))
				throw new Failure(
					'alreadyExists',
					`There is a folder ${home} on ${rootName} already, which is nobody’s home. Move it away first.`,
				);
			const { bytes } = await measureHome(source.storage, home, new AbortController().signal);
			const space = {
				freeSpace: () => target.storage.freeSpace(),
				totalSpace: () => target.storage.totalSpace(),
			};
			const available = Math.max(0, await availableSpace(space, config.uploads));
			if (bytes > available) {
				throw new Failure(
					'storageFull',
					`The home of ${user.username} has ${formatListSize(bytes)}, and on ${rootName} there is room for ${formatListSize(available)}.`,
				);
			}
			const owner = { kind: 'user', id: user.id, username: user.username } as const;
			return starter.start(owner, { rootId: target.storage.rootId }, `Move the home to ${rootName}`);
		},

		async underWay(userId) {
			const job = (await jobs.listOf(userId)).find(({ kind, endTime }) => kind === homeMoveName && endTime === null);
			if (job === undefined) return undefined;
			const { input } = await starter.find({ kind: 'user', id: userId, username: '' }, job.id);
			const states = await roots.list();
			return { job, root: states.find(({ rootId }) => rootId === input.rootId)?.name };
		},
	};
	return moves;
}

async function assertUsable({ name, storage }: Mount): Promise<void> {
	try {
		await storage.check();
	} catch (error) {
		if (!isFailure(error, 'unavailable')) throw error;
		throw new Failure('unavailable', `The storage root ${name} can’t be used: ${error.message}`, { cause: error });
	}
}

async function isThere({ storage }: Mount, home: ReturnType<typeof homeRoot>): Promise<boolean> {
	try {
		await storage.stat(home);
		return true;
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}
