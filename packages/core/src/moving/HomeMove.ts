import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { JobContext, StorageItem } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, type StoragePath, undefinedIf } from '@stowage/rules';
import { z } from 'zod';
import type { Config } from '../config/schema.js';
import { withNewNames } from '../jobs/withNewNames.js';
import type { Log } from '../log.js';
import type { Roots } from '../trees/roots/Roots.js';
import type { Mount } from '../trees/storage/Mounts.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';
import type { VersionPaths } from '../trees/trash/versions/VersionPaths.js';

/** What moves of homes work with. */
export interface HomeMoveParts {
	roots: Roots;
	database: Pick<Database, 'homes' | 'links' | 'members' | 'versions'>;
	config: Pick<Config, 'uploads'>;
	trashBin: Pick<TrashBin, 'moveAllTo'>;
	versionPaths: Pick<VersionPaths, 'completeAll'>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The retry interval while the database is not available and it must be known whether the home has moved. */
const retryMs = 500;

export const homeMoveInput = z.object({ rootId: z.string() });
export type HomeMoveInput = z.infer<typeof homeMoveInput>;

const moveFields = z.object({
	/** `switching` from when the home may be on its new root. */
	step: z.preprocess((step) => (step === 'leaving' ? 'switching' : step), z.enum(['copying', 'switching'])),
	name: z.string(),
	sourceId: z.string(),
	runId: z.string(),
	/** The id of the copy, by which a sweep knows that it is needed. */
	marker: z.string().optional(),
	/** The id of the old tree once it was renamed away, by which a sweep knows that it is needed. */
	renamedAway: z.string().optional(),
	/** What the home contained before the move. */
	digest: z.string().optional(),
});

/** Earlier versions called the last step `leaving`. */
export const savedMove = withNewNames(moveFields, { mark: 'marker', aside: 'renamedAway' });
export type SavedMove = z.infer<typeof savedMove>;

/** One run of a move. */
export interface Move {
	job: JobContext<HomeMoveInput>;
	source: Mount;
	target: Mount;
	home: StoragePath;
	state: SavedMove;
	/** When the move was recorded, by the monotonic clock. */
	begunAt: number;
}

/**
 * A new move, or the one that an interrupted run has saved. Roots are found by their ids, since their names may change. Throws `conflict`
 * where it is tried again for an account that was renamed meanwhile: its former name may be another one's.
 */
export async function beginMove({ roots, monotonic }: HomeMoveParts, job: JobContext<HomeMoveInput>): Promise<Move> {
	const name = job.viewer.username;
	await roots.reload();
	const earlier = job.saved === undefined ? undefined : savedMove.parse(job.saved);
	if (earlier !== undefined && earlier.name !== name)
		throw new Failure('conflict', `This was to move the home of ${earlier.name}, who is called ${name} now.`);
	const source = earlier === undefined ? await roots.homes.mountOf(name) : roots.withId(earlier.sourceId);
	const state: SavedMove = earlier ?? {
		step: 'copying',
		name,
		sourceId: source.storage.rootId,
		runId: randomBytes(16).toString('hex'),
	};
	const target = roots.withId(job.input.rootId);
	return { job, source, target, home: homeRoot(state.name), state, begunAt: monotonic() };
}

/** Throws `conflict` where the home has left its root by another move, since the one that is tried again now has ended. */
export async function assertAtSource({ roots }: HomeMoveParts, { source, state }: Move): Promise<void> {
	const { storage, name } = await roots.homes.mountOf(state.name);
	if (storage.rootId !== source.storage.rootId)
		throw new Failure('conflict', `The home of ${state.name} lies on ${name} by now, not on ${source.name}.`);
}

/** Whether the home is on its new root; retried until the database answers. */
export async function hasMoved({ database }: HomeMoveParts, { job, state, target }: Move): Promise<boolean> {
	for (;;) {
		try {
			return (await database.homes.findWithMove(state.name)).rootId === target.storage.rootId;
		} catch (error) {
			if (!isFailure(error, 'unavailable') || job.signal.aborted) throw error;
			await wait(retryMs);
		}
	}
}

/** The current place of the home; undefined if it was never created. */
export function statHome({ source, home }: Move): Promise<StorageItem | undefined> {
	return undefinedIf(source.storage.stat(home), 'notFound');
}
