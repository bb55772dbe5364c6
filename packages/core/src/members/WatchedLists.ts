import type { JoinedNames, Watch } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { isTrashedLink } from '../trees/trash/trashPaths.js';

/** How often the lists are compared. */
const pollMs = 1000;

interface Watched {
	seen: string | undefined;
	listeners: Set<() => void>;
}

/** The lists of shared folders that are open. Those of a user are read together, however many pages show them. */
export class WatchedLists {
	readonly #joined: (userId: string) => Promise<readonly JoinedNames[]>;
	readonly #watched = new Map<string, Watched>();
	#timer: NodeJS.Timeout | undefined;
	#isChecking = false;

	/** `joined` reads what names depend on, and no whole paths: it is called each second. */
	constructor(joined: (userId: string) => Promise<readonly JoinedNames[]>) {
		this.#joined = joined;
	}

	/** Calls `onChange` when other folders are shared with a user, or under other names or roles. */
	async watch(userId: string, onChange: () => void): Promise<Watch> {
		const watched = this.#watched.get(userId) ?? { seen: undefined, listeners: new Set() };
		const listener = () => onChange();
		watched.listeners.add(listener);
		this.#watched.set(userId, watched);
		this.#timer ??= setInterval(() => void this.#check(), pollMs).unref();
		const close = () => {
			watched.listeners.delete(listener);
			if (watched.listeners.size === 0 && this.#watched.get(userId) === watched) this.#watched.delete(userId);
			if (this.#watched.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
		try {
			const now = await this.#read(userId);
			watched.seen ??= now;
			return { close };
		} catch (error) {
			close();
			throw error;
		}
	}

	async #read(userId: string): Promise<string> {
		const folders = await this.#joined(userId);
		const listed = folders.flatMap(({ id, role, owner, ends }) => {
			const end = ends.findLast(({ first }) => !isTrashedLink(parsePath(first)));
			// Another number of ends says that a move has ended, such as one out of the trash, before which the folder was not there.
			return end === undefined ? [] : [[id, role, owner, end.last, ends.length]];
		});
		return JSON.stringify(listed);
	}

	async #check(): Promise<void> {
		if (this.#isChecking) return;
		this.#isChecking = true;
		try {
			for (const [userId, watched] of [...this.#watched]) {
				const now = await this.#read(userId);
				const { seen } = watched;
				watched.seen = now;
				if (seen !== undefined && now !== seen) for (const listener of [...watched.listeners]) listener();
			}
		} catch {
			// They are compared again soon.
		} finally {
			this.#isChecking = false;
		}
	}
}
