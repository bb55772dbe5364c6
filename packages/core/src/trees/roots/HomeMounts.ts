import type { Database } from '@stowage/database';
import type { RootRecord, StorageProvider } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, undefinedIf } from '@stowage/rules';
import type { Homes, Mount } from '../storage/Mounts.js';
import { HomeMoveWatch, type HomeMoveWatchParts, homeCacheMs, homeIsMoving } from './HomeMoveWatch.js';

/** The roots that homes lie on. */
interface KnownRoots {
	readonly first: Mount;
	readonly default: Mount;
	all(): readonly Mount[];
	readonly records: readonly RootRecord[];
	mountOf(rootId: string | undefined): Mount | undefined;
	/** Whether it is the root that was the first one before the configuration named another storage. */
	wasFirst(rootId: string): boolean;
	reload(): Promise<void>;
}

interface Dependencies extends HomeMoveWatchParts {
	roots: KnownRoots;
	homes: Database['homes'];
}

const maxHomesCached = 10_000;

/** Knows on which root each home lies, by the database. */
export class HomeMounts implements Homes {
	/** Homes on their way to another root. */
	readonly moves: HomeMoveWatch;
	readonly #dependencies: Dependencies;
	readonly #cached = new Map<string, { mount: Mount; until: number }>();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
		this.moves = new HomeMoveWatch(dependencies, (username) => this.#cached.delete(username));
	}

	mountOf(username: string): Mount | Promise<Mount> {
		const { roots, monotonic } = this.#dependencies;
		if (roots.all().length === 1 && roots.records.length === 1) return roots.first;
		const known = this.#cached.get(username);
		if (known !== undefined && known.until > monotonic()) return known.mount;
		return this.#find(username);
	}

	on(mount: Mount): Promise<readonly string[]> {
		return this.#dependencies.homes.list(mount.storage.rootId);
	}

	async changing<T>(username: string, change: () => Promise<T>): Promise<T> {
		let mount: Mount | undefined;
		const look = async () => {
			mount = await this.mountOf(username);
		};
		try {
			return await this.moves.changing(username, look, change);
		} catch (error) {
			// Others don't wait for a process that stands still: its items may be on another root when it goes on.
			if (mount !== undefined && isFailure(error, 'notFound') && (await this.#hasLeft(mount, username)))
				throw homeIsMoving();
			throw error;
		}
	}

	assertUnfrozen(username: string): void {
		this.moves.assertUnfrozen(username);
	}

	async assign(username: string): Promise<void> {
		const { roots, homes } = this.#dependencies;
		if (roots.all().length === 1) return;
		const known = await homes.find(username);
		if (known !== undefined) {
			// Somebody may have asked for the home before its account was made, in whichever process.
			if (this.#cached.get(username)?.mount.storage.rootId !== known) this.#cached.delete(username);
			return;
		}
		// Of an account that is older than this record. A folder of its name on another root is somebody else's.
		const isOnFirst =
			(await hasHome(roots.first.storage, username)) || (await hasHome(roots.default.storage, username));
		await homes.assign(username, (isOnFirst ? roots.first : roots.default).storage.rootId);
		this.#cached.delete(username);
	}

	async assignOfRename(username: string, newName: string): Promise<void> {
		const { roots, homes } = this.#dependencies;
		const known = await homes.find(username);
		if (known !== undefined) await homes.set(newName, known);
		else if (await hasHome(roots.first.storage, username)) await homes.set(newName, roots.first.storage.rootId);
		this.#cached.delete(newName);
	}

	/** A root was removed. */
	clearCache(): void {
		this.#cached.clear();
	}

	async #hasLeft(mount: Mount, username: string): Promise<boolean> {
		const { roots } = this.#dependencies;
		return roots.all().length > 1 && (await this.#find(username)) !== mount;
	}

	async #find(username: string): Promise<Mount> {
		const { roots, homes, monotonic } = this.#dependencies;
		const { polls } = this.moves;
		const { rootId, move } = await homes.findWithMove(username);
		this.moves.record(username, move, polls);
		const known = () => (rootId === undefined || roots.wasFirst(rootId) ? roots.first : roots.mountOf(rootId));
		let mount = known();
		if (mount === undefined) {
			await roots.reload();
			mount = known();
		}
		if (mount === undefined) throw new Failure('unavailable', 'The disk of these files is not known to this server.');
		this.#cached.delete(username);
		// While it is being moved each call queries it.
		if (move !== undefined || polls !== this.moves.polls) return mount;
		this.#cached.set(username, { mount, until: monotonic() + homeCacheMs });
		if (this.#cached.size > maxHomesCached) this.#cached.delete(this.#cached.keys().next().value as string);
		return mount;
	}
}

/** Whether there is a home of that name on a root. */
export async function hasHome(storage: StorageProvider, username: string): Promise<boolean> {
	return (await undefinedIf(storage.stat(homeRoot(username)), 'notFound')) !== undefined;
}
