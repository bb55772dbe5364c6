import { Failure, isFailure, type StoragePath } from '@stowage/rules';
import { HomeComparison } from '../trees/across/compareHomes.js';
import { copyAccess, copyContents, copyFolderTime } from '../trees/across/copyContents.js';
import { availableSpace, createSpaceGuards } from '../trees/space/freeSpace.js';
import { ignoreMissing } from '../trees/storage/Mounts.js';
import type { HomeMoveParts, Move } from './HomeMove.js';

/** The least time between two progress reports. */
const reportMs = 100;

/** How often a home whose changes are blocked is copied, where copies turned out to be of what a file was moments before. */
const maxTries = 3;

export interface Progress {
	/** A further pass begins. */
	begin(step: string): void;
	step(step: string): void;
	add: (bytes: number) => void;
}

/** Copies the files that the copy lacks, and compares all. */
export function createPass({ config }: HomeMoveParts, move: Move, folder: StoragePath, progress: Progress) {
	const { job, source, target, home } = move;
	const { signal } = job;
	// A home that is moved takes nobody's trash.
	const available = () => availableSpace(target.storage, config.uploads);
	const { user: guard } = createSpaceGuards(available, async () => false);
	let stale = 0;
	const comparison = new HomeComparison(
		{ storage: source.storage, root: home },
		{ storage: target.storage, root: folder },
		signal,
		progress.add,
		async (path) => {
			stale++;
			// The next copy would take it for the whole again.
			await target.storage.remove(path).catch(ignoreMissing);
		},
	);
	const copy = async () => {
		const grants = guard.beginGrants();
		try {
			const options = { signal, beforeBytes: grants.reserve, afterBytes: progress.add, keepsAccess: true };
			await copyContents(source.storage, home, target.storage, folder, options);
			await copyAccess(source.storage, home, target.storage, folder);
			await copyFolderTime(source.storage, home, target.storage, folder);
		} finally {
			grants.end();
		}
	};
	return {
		/**
		 * Resolves to the digest of the home, and to whether all of it was copied. Throws if a home whose changes are blocked differs from
		 * its copy.
		 */
		async run(mode: 'live' | 'frozen'): Promise<{ digest: string; isWhole: boolean }> {
			progress.begin(mode === 'frozen' ? 'finishing' : 'copying');
			let isWhole = true;
			stale = 0;
			try {
				await copy();
			} catch (error) {
				// A file was written to while it was read, or renamed to and fro: the next pass has it.
				const isPassing = isFailure(error, 'conflict') || isFailure(error, 'notFound');
				if (mode === 'frozen' || !isPassing) throw error;
				isWhole = false;
			}
			if (mode === 'live') progress.step('comparing');
			let { isSame, digest } = await comparison.compare();
			for (let tries = 1; mode === 'frozen' && !isSame && stale > 0 && tries < maxTries; tries++) {
				stale = 0;
				await copy();
				({ isSame, digest } = await comparison.compare());
			}
			if (mode === 'frozen' && !isSame)
				throw new Failure('conflict', 'Another program keeps changing files in the home. It stays where it was.');
			return { digest, isWhole };
		},
	};
}

/** Reports the progress of a move of this many bytes. */
export function reportProgress({ monotonic }: HomeMoveParts, { job, target }: Move, bytes: number): Progress {
	let done = 0;
	let step = 'copying';
	let reportedAt = Number.NEGATIVE_INFINITY;
	const report = () => {
		reportedAt = monotonic();
		// Each byte is copied and compared. Bytes that are added meanwhile count as done, so the bar never goes back.
		const total = Math.max(2 * bytes, done);
		job.progress({ done, total, unit: 'bytes', detail: { step, root: target.name } });
	};
	let passed = 0;
	let furthest = 0;
	report();
	return {
		begin(next) {
			furthest = Math.max(furthest, passed);
			passed = 0;
			this.step(next);
		},
		step(next) {
			step = next;
			report();
		},
		add(count) {
			passed += count;
			// Another pass over the same bytes is no progress.
			done = Math.max(furthest, passed);
			if (monotonic() - reportedAt >= reportMs) report();
		},
	};
}
