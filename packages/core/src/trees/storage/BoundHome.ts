import { isFailure, type StoragePath } from '@stowage/rules';
import { changeHome, type Mount, type Mounts, mountOf } from './Mounts.js';
import { assertNotPublic, isLikePublic } from './publicSpelling.js';

/**
 * The root that a home lies on, for the length of a request, or that of `undefined` all that no user has. It is bound
 * at the first call. A home may be moved to another root meanwhile: each change checks, while the home can't be moved,
 * where it lies now, and is made there; a read that fails is tried again where the home has moved.
 */
export class BoundHome {
	readonly name: string | undefined;
	readonly #mounts: Mounts;
	#bound: Mount | undefined;

	constructor(mounts: Mounts, name: string | undefined) {
		this.name = name;
		this.#mounts = mounts;
	}

	/** The root that the home lies on. Throws `unavailable` while it is not known. */
	mount(): Mount | Promise<Mount> {
		return this.#bound ?? this.#bind();
	}

	async #bind(): Promise<Mount> {
		const mount = await mountOf(this.#mounts, this.name);
		this.#bound ??= mount;
		return this.#bound;
	}

	change<T>(change: (mount: Mount) => Promise<T>): Promise<T> {
		return changeHome(this.#mounts, this.name, (mount) => {
			this.#bound = mount;
			return change(mount);
		});
	}

	/** Reads what that path leads to. Throws `notFound` for one that leads into the public tree by another name than `Public`. */
	read<T>(path: StoragePath, read: (mount: Mount) => Promise<T>): Promise<T> {
		if (!isLikePublic(path)) return this.#readBound(read);
		return this.#readBound(async (mount) => {
			await assertNotPublic(mount.storage, path);
			return read(mount);
		});
	}

	/** `read` in batches: one that has begun is not tried again. */
	readBatches<T>(path: StoragePath, read: (mount: Mount) => AsyncIterable<T>): AsyncGenerator<T> {
		if (!isLikePublic(path)) return this.#batchesBound(read);
		return this.#batchesBound(async function* (mount) {
			await assertNotPublic(mount.storage, path);
			yield* read(mount);
		});
	}

	async #readBound<T>(read: (mount: Mount) => Promise<T>): Promise<T> {
		const bound = await this.mount();
		try {
			return await read(bound);
		} catch (error) {
			return read(await this.#boundAnew(bound, error));
		}
	}

	async *#batchesBound<T>(read: (mount: Mount) => AsyncIterable<T>): AsyncGenerator<T> {
		const bound = await this.mount();
		let hasBegun = false;
		try {
			for await (const batch of read(bound)) {
				hasBegun = true;
				yield batch;
			}
		} catch (error) {
			if (hasBegun) throw error;
			yield* read(await this.#boundAnew(bound, error));
		}
	}

	/** Where the home lies now. Throws the error of the read if that is where it was. */
	async #boundAnew(bound: Mount, error: unknown): Promise<Mount> {
		if (!isFailure(error)) throw error;
		const mount = await mountOf(this.#mounts, this.name);
		if (mount === bound) throw error;
		this.#bound = mount;
		return mount;
	}
}
