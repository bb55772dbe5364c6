import type { CountedChanges, JoinedFolder, MemberStore } from '@stowage/plugin-api';
import { baseName, type User } from '@stowage/rules';
import type { Log } from '../log.js';

/** How often counts are written, for all folders together. */
const flushMs = 2_000;

export type ChangeKind = 'added' | 'changed' | 'removed';

interface Dependencies {
	store: Pick<MemberStore, 'countChanges'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	log: Log;
}

/**
 * Counts what members change in the folders of others, for the owners' Activity. Counts wait in memory for a moment,
 * so that a change costs no write of its own.
 */
export class MemberChanges {
	readonly #parts: Dependencies;
	readonly #counts = new Map<string, CountedChanges>();
	#timer: NodeJS.Timeout | undefined;
	#flushing: Promise<void> = Promise.resolve();

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	count({ id, username }: Pick<User, 'id' | 'username'>, folder: JoinedFolder, kind: ChangeKind): void {
		const now = this.#parts.now();
		const key = `${folder.id} ${id}`;
		const counts = this.#counts.get(key) ?? {
			...{ ownerId: folder.owner.id, folderId: folder.id, memberId: id },
			...{ folder: baseName(folder.nextPath ?? folder.path), member: username },
			...{ added: 0, changed: 0, removed: 0, begunAt: now, endedAt: now },
		};
		counts[kind]++;
		counts.endedAt = now;
		this.#counts.set(key, counts);
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			void this.flush();
		}, flushMs).unref();
	}

	/** Writes all that waits. */
	async flush(): Promise<void> {
		this.#flushing = this.#flushing.then(() => this.#write());
		await this.#flushing;
	}

	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await this.flush();
	}

	async #write(): Promise<void> {
		const changes = [...this.#counts.values()];
		this.#counts.clear();
		if (changes.length === 0) return;
		try {
			await this.#parts.store.countChanges(changes);
		} catch (error) {
			// A full disk, or a database that is away: counts are lost, and nobody's work is.
			this.#parts.log.warn({ err: error }, 'changes by members could not be counted');
		}
	}
}
