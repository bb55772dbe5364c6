import { type VersionCount, type VersionedFile, Yielder } from '@stowage/plugin-api';
import {
	baseName,
	batchesOf,
	homeRoot,
	joinChecked,
	PathMap,
	PathSet,
	parentPath,
	relativePath,
	type StoragePath,
	type User,
	undefinedIf,
} from '@stowage/rules';
import { filterInBatches } from '../../filterInBatches.js';
import { identityOf } from '../../identity.js';
import type { TrashParts } from '../trashParts.js';

/** Files whose versions are counted together, each of which has a bounded number of them. */
const countedAtOnce = 100;
const foldersAtOnce = 200;

/** How many versions files have, by what each is named by. */
type Counts = Pick<PathMap<number>, 'get'>;

/** How many versions files have. */
export class VersionCounts {
	readonly #parts: TrashParts;

	constructor(parts: TrashParts) {
		this.#parts = parts;
	}

	get #isOn(): boolean {
		return this.#parts.config.versions.keepFor > 0;
	}

	/** Whether a user has any. */
	hasAny(ownerId: string): Promise<boolean> {
		return this.#parts.versions.hasAny(ownerId);
	}

	/** How many each file directly in a folder of the storage has, by its name. */
	async in({ id, username }: User, folder: StoragePath): Promise<Counts> {
		return this.#counts(id, [relativePath(folder, homeRoot(username))], baseName);
	}

	/** How many each of these files of the storage has, by its path in the home. */
	async of({ id, username }: User, files: readonly StoragePath[]): Promise<Counts> {
		if (files.length === 0 || !this.#isOn || !(await this.hasAny(id))) return new PathMap();
		const folders = new PathSet(files.map((file) => parentPath(relativePath(file, homeRoot(username)))));
		return this.#counts(id, [...folders], (path) => path);
	}

	/**
	 * The files at a path or below that have versions, by their identities: of their paths, which may be long, a few are kept at a time. A
	 * path may be out of date after a crash: only the files that are there count.
	 */
	async filesWithin(owner: User, path: StoragePath): Promise<ReadonlySet<string>> {
		const found = new Set<string>();
		await this.#parts.versions.countsWithin(owner.id, path, async (some) => {
			for (const { file } of await this.#present(owner, some)) found.add(file);
		});
		return found;
	}

	/** Which of these files that were at a path or below are there no more, and have not been moved elsewhere. */
	async gone(owner: User, path: StoragePath, files: ReadonlySet<string>): Promise<ReadonlySet<string>> {
		const gone = new Set<string>();
		const present = new Set<string>();
		await this.#parts.versions.countsWithin(owner.id, path, async (some) => {
			const mayBeGone = some.filter(({ file }) => files.has(file));
			for (const { file } of mayBeGone) gone.add(file);
			for (const { file } of await this.#present(owner, mayBeGone)) present.add(file);
		});
		// Some of its versions may have another path than the others.
		for (const file of present) gone.delete(file);
		return gone;
	}

	async #counts(
		ownerId: string,
		folders: readonly StoragePath[],
		keyOf: (path: StoragePath) => string,
	): Promise<Counts> {
		const counts = new PathMap<number>();
		if (!this.#isOn) return counts;
		const yielder = new Yielder();
		const open = [...batchesOf(folders, foldersAtOnce)];
		for (let some = open.pop(); some !== undefined; some = open.pop()) {
			for (let after: VersionCount | undefined; ; ) {
				const page = await this.#parts.versions.countsIn(ownerId, some, { limit: countedAtOnce, after });
				if (yielder.shouldYield) await yielder.yield();
				const isLast = page.length < countedAtOnce;
				if (!isLast && some.length > 1) {
					// Those of one folder only can be continued.
					open.push(...batchesOf(some, Math.ceil(some.length / 2)));
					break;
				}
				for (const { path, count } of page) counts.set(keyOf(path), (counts.get(keyOf(path)) ?? 0) + count);
				if (isLast) break;
				after = page.at(-1);
			}
		}
		return counts;
	}

	async #present<T extends VersionedFile>({ username }: User, files: readonly T[]): Promise<T[]> {
		const home = this.#parts.storage().home(username);
		const isPresent = async ({ path, file }: T) => {
			const found = home.stat(joinChecked(homeRoot(username), path));
			const item = await undefinedIf(found, 'notFound', 'forbidden');
			return item !== undefined && identityOf(item) === file;
		};
		return filterInBatches(files, isPresent);
	}
}
