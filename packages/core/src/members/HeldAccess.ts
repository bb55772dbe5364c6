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

interface Places {
	/** Throws `notFound` for who has no such folder. */
	again(user: { id: string }, folderId: string, inside: StoragePath): Promise<{ role: MemberRole }>;
}

/** What members have under way in this process, which ends with their role, whoever takes it and in whatever process. */
export class HeldAccess {
	readonly #folders: Places;
	readonly #held = new Map<Held, () => void>();
	#timer: NodeJS.Timeout | undefined;
	#isChecking = false;

	constructor(folders: Places) {
		this.#folders = folders;
	}

	/** `onLost` is called once the role is lost, until the returned function is called. */
	hold(held: Held, onLost: () => void): () => void {
		const own = { ...held };
		this.#held.set(own, onLost);
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
		for (const [held, onLost] of [...this.#held]) {
			if (!(await this.#isLost(held)) || !this.#held.delete(held)) continue;
			onLost();
		}
	}

	async #isLost({ user, folderId, inside, role: needed }: Held): Promise<boolean> {
		try {
			const { role } = await this.#folders.again(user, folderId, inside);
			return needed === 'edit' && role === 'view';
		} catch (error) {
			// An outage ends nothing.
			return isFailure(error, 'notFound');
		}
	}
}
