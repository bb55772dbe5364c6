import { createHash } from 'node:crypto';
import type { CommitOptions, StagedFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, parentPath, type StoragePath } from '@stowage/rules';
import { type Crossing, commitAcross, crossingTargets, isCrossing, publishedAcross } from '../across/commitAcross.js';
import { cutoffsOf, discardAcross, sweepAcross, type TimedCutoffs } from '../across/copies.js';
import { wrapStaged } from '../space/metered.js';
import { assertReplaceable, changeHome, homeAt, type Mount, type Mounts } from './Mounts.js';
import { assertNotPublic } from './publicSpelling.js';
import { prefixed, prefixOf, withoutPrefix, withPrefix } from './rootIds.js';

/** The staged files and copies of all roots. Each is on the root that its id names, whichever root its home is on by now. */
export class MountedStaging {
	readonly #mounts: Mounts;

	constructor(mounts: Mounts) {
		this.#mounts = mounts;
	}

	/** Begins a file on the root on which it will be published. */
	async begin(mount: Mount): Promise<StagedFile> {
		return this.#wrap(await mount.storage.stage(), mount);
	}

	/** Throws `notFound` for an id of a root that no longer exists. */
	async find(id: string): Promise<StagedFile> {
		const mount = this.#mountOf(id);
		return this.#wrap(await mount.storage.stage(withoutPrefix(id, mount.idPrefix)), mount);
	}

	/** The name of the root that a staged file lies on; undefined where there is no such root any more. */
	rootOf(id: string): string | undefined {
		return this.#findMount(id)?.name;
	}

	/** `target` is the root that the path is on. */
	async findPublished(id: string, path: StoragePath, target: Mount): Promise<StorageItem | undefined> {
		const source = this.#findMount(id);
		if (source === undefined) return undefined;
		const isSame = source.idPrefix === target.idPrefix;
		const own = isSame ? await target.storage.findPublished(withoutPrefix(id, target.idPrefix), path) : undefined;
		// Also on its own root, to which the home may have returned meanwhile.
		const mayHaveCrossed = !isSame || this.#mounts.all().length > 1;
		const item =
			own ?? (mayHaveCrossed ? await publishedAcross(this.#crossing(id, source.storage, target), path) : undefined);
		return item && prefixed(item, target.idPrefix);
	}

	async discardCopy(id: string): Promise<void> {
		const { storage, idPrefix } = this.#mountOf(id);
		const own = withoutPrefix(id, idPrefix);
		if (!(await discardAcross(storage, own))) await storage.discardCopy(own);
	}

	/** Sweeps each root, also if another one is not available; then throws that. */
	async sweep(before: TimedCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		const crossings = await Promise.allSettled(this.#mounts.all().map(({ storage }) => crossingTargets(storage)));
		const crossing = new Set(crossings.flatMap((of) => (of.status === 'fulfilled' ? [...of.value] : [])));
		// What goes from a root that is away to another one is not known: it stays as long as it may be continued.
		const areAllKnown = crossings.every(({ status }) => status === 'fulfilled');
		const { staged, uploadCopies } = before;
		const known = areAllKnown ? before : { ...before, staged: Math.min(staged, uploadCopies) };
		const sweep = async ({ storage, idPrefix }: Mount) => {
			const isOwnNeeded = async (id: string) =>
				crossing.has(id) || crossing.has(withPrefix(id, idPrefix)) || isNeeded(withPrefix(id, idPrefix));
			const cutoffs = await cutoffsOf(storage, known);
			await storage.sweepStaging(cutoffs, isOwnNeeded);
			await sweepAcross(storage, cutoffs, isOwnNeeded);
		};
		const swept = await Promise.allSettled(this.#mounts.all().map(sweep));
		for (const outcome of swept) if (outcome.status === 'rejected') throw outcome.reason;
	}

	#wrap(staged: StagedFile, { storage, idPrefix }: Mount): StagedFile {
		return wrapStaged(staged, (own) => {
			const id = withPrefix(own.id, idPrefix);
			return { id, commit: (path, options) => this.#commit({ own, id, storage }, path, options) };
		});
	}

	#commit({ own, id, storage }: Staged, path: StoragePath, options?: CommitOptions): Promise<StorageItem> {
		const home = homeAt(path);
		return changeHome(this.#mounts, home, async (target) => {
			await assertNotPublic(target.storage, parentPath(path));
			// Before it leaves the staging of its own root.
			await assertReplaceable(target, path, options);
			const crossing = this.#crossing(id, storage, target);
			// A long copy holds up no other move of the home.
			const beforeChunk = () => {
				if (home !== undefined) this.#mounts.homes.assertUnfrozen(home);
			};
			const commit = () => commitAcross(own, crossing, path, { ...options, beforeChunk });
			if (target.storage !== storage) return prefixed(await commit(), target.idPrefix);
			try {
				return prefixed(await own.commit(path, options), target.idPrefix);
			} catch (error) {
				// It was on its way to a root that the home has left again.
				if (!isFailure(error, 'notFound') || !(await isCrossing(crossing))) throw error;
				return prefixed(await commit(), target.idPrefix);
			}
		});
	}

	#crossing(id: string, source: StorageProvider, target: Mount): Crossing {
		const rootOf = (prefix: string) => this.#mounts.all().find((mount) => mount.idPrefix === prefix)?.storage;
		const key = createHash('sha256').update(id).digest('hex');
		return { key, source, target: target.storage, targetPrefix: target.idPrefix, rootOf };
	}

	#findMount(id: string): Mount | undefined {
		const idPrefix = prefixOf(id);
		return this.#mounts.all().find((mount) => mount.idPrefix === idPrefix);
	}

	#mountOf(id: string): Mount {
		const mount = this.#findMount(id);
		if (mount === undefined) throw new Failure('notFound', 'That upload is not known.');
		return mount;
	}
}

/** A staged file as its root has it, with the id that it has among all roots. */
interface Staged {
	own: StagedFile;
	id: string;
	storage: StorageProvider;
}
