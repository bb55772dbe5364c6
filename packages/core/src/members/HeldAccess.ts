import { isFailure, type MemberRole, type StoragePath } from '@stowage/rules';

/** How often it is checked whether members still have what they use. */
const pollMs = 500;

/** What a member uses for a while: something in a folder, wherever that is moved. */
export interface Held {
	user: { id: string };
	folderId: string;
	/** Relative to the folder. */
	inside: StoragePath;
	role: MemberRole;
}

/** A role that something depends on, and what is to be done once it is another one. */
interface Watched {
	role: MemberRole;
	onRole: () => void;
}

interface Listener {
	onLost: () => void;
	onRole: () => void;
	/** The role at the last check. */
	seen: MemberRole | undefined;
}

interface Places {
	/** Throws `notFound` for who has no such folder. */
	again(user: { id: string }, folderId: string, inside: StoragePath): Promise<{ role: MemberRole }>;
}

/** What members have under way in this process, which ends with their role, whoever takes it and in whatever process. */
export class HeldAccess {
	readonly #folders: Places;
	readonly #held = new Map<Held, Listener>();
	#timer: NodeJS.Timeout | undefined;
	#isChecking = false;

	constructor(folders: Places) {
		this.#folders = folders;
	}

	/** `onLost` is called once the role is lost, and `onRole` each time that it is another one than it was, until the returned function is called. */
	hold(held: Held, onLost: () => void, watched?: Watched): () => void {
		const own = { ...held };
		this.#held.set(own, { onLost, onRole: () => watched?.onRole(), seen: watched?.role });
		this.#timer ??= setInterval(() => void this.#check(), pollMs).unref();
		return () => {
			this.#held.delete(own);
			if (this.#held.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
	}

	/** How much is under way. */
	get count(): number {
		return this.#held.size;
	}

	async #check(): Promise<void> {
		if (this.#isChecking) return;
		this.#isChecking = true;
		try {
			await this.#checkAll();
		} finally {
			this.#isChecking = false;
		}
	}

	async #checkAll(): Promise<void> {
		for (const [held, listener] of [...this.#held]) {
			const role = await this.#roleOf(held);
			if (role === undefined || !this.#held.has(held)) continue;
			if (role === 'none' || (held.role === 'edit' && role === 'view')) {
				this.#held.delete(held);
				listener.onLost();
			} else {
				if (listener.seen !== undefined && listener.seen !== role) listener.onRole();
				listener.seen = role;
			}
		}
	}

	/** Undefined where it is not known: an outage ends nothing. */
	async #roleOf({ user, folderId, inside }: Held): Promise<MemberRole | 'none' | undefined> {
		try {
			return (await this.#folders.again(user, folderId, inside)).role;
		} catch (error) {
			return isFailure(error, 'notFound') ? 'none' : undefined;
		}
	}
}
