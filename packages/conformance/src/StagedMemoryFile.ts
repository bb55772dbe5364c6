import type { CommitOptions, NamingOptions, StagedFile, StagedLock, StorageItem } from '@stowage/plugin-api';
import { baseName, Failure, type StoragePath } from '@stowage/rules';
import { type FileNode, itemOf, type MemoryRoot, type StagedNode } from './memoryTree.js';

/** The parts of the storage that a staged file is published in. */
export interface PublishingTree {
	/** The path, or one beside it with the first free of the other names. Throws as `publish` does. */
	freePath(path: StoragePath, options: NamingOptions): StoragePath;
	/**
	 * Throws `notFound` if the folder is missing, `alreadyExists` for a taken name and `preconditionFailed` for another version than the
	 * one to replace.
	 */
	publish(node: FileNode, path: StoragePath, options: NamingOptions): void;
}

export class StagedMemoryFile implements StagedFile {
	readonly #staged: StagedNode;

	/** Throws `notFound` for an unknown id. */
	constructor(
		readonly root: MemoryRoot,
		readonly id: string,
		readonly tree: PublishingTree,
	) {
		const staged = root.staged.get(id);
		if (staged === undefined) throw noSuchUpload();
		this.#staged = staged;
	}

	async size(): Promise<number> {
		return this.#open().bytes.length;
	}

	append(body: AsyncIterable<Uint8Array>, at: number): Promise<number> {
		return this.#alone(async () => {
			const node = this.#open();
			if (!Number.isSafeInteger(at) || at < 0 || at > node.bytes.length) {
				throw new Failure('conflict', `The upload holds ${node.bytes.length} bytes so far.`);
			}
			const chunks: Uint8Array[] = [node.bytes.slice(0, at)];
			try {
				for await (const chunk of body) chunks.push(chunk);
			} finally {
				node.setBytes(concat(chunks));
			}
			return node.bytes.length;
		});
	}

	async lock(): Promise<StagedLock> {
		const staged = this.#staged;
		this.#open();
		if (staged.isBusy || staged.isLocked) throw inUse();
		staged.isLocked = true;
		let isReleased = false;
		return {
			release() {
				if (!isReleased) staged.isLocked = false;
				isReleased = true;
			},
		};
	}

	async fork(size: number): Promise<StagedFile> {
		const bytes = this.#open().bytes.slice(0, size);
		const fork = new StagedMemoryFile(this.root, this.root.begin(), this.tree);
		fork.#staged.node.setBytes(bytes);
		return fork;
	}

	async sync(): Promise<void> {
		this.#open();
	}

	commit(path: StoragePath, options: CommitOptions = {}): Promise<StorageItem> {
		return this.#alone(async () => {
			for (;;) {
				const node = this.#open();
				const free = this.tree.freePath(path, options);
				if (options.beforeNaming !== undefined) {
					await options.beforeNaming(baseName(free));
					// Another caller may have taken the name, or dropped the file.
					if (this.#open() !== node || this.tree.freePath(path, options) !== free) continue;
				}
				this.tree.publish(node, free, options);
				this.#staged.state = 'published';
				if (options.mtime !== undefined) node.mtime = options.mtime;
				return itemOf(baseName(free), node);
			}
		});
	}

	async discard(): Promise<void> {
		if (this.#staged.state === 'open') this.#staged.state = 'discarded';
	}

	#open(): FileNode {
		if (this.#staged.state !== 'open') throw noSuchUpload();
		return this.#staged.node;
	}

	async #alone<T>(work: () => Promise<T>): Promise<T> {
		if (this.#staged.isBusy) throw inUse();
		this.#staged.isBusy = true;
		try {
			return await work();
		} finally {
			this.#staged.isBusy = false;
		}
	}
}

function inUse(): Failure {
	return new Failure('locked', 'Somebody else is writing to this upload.');
}

function noSuchUpload(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
	const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.length;
	}
	return bytes;
}
