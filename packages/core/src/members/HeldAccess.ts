import { isFailure, type MemberRole, type StoragePath } from '@stowage/rules';

/** How often it is checked whether members still have what they use. */
const pollMs = 500;

/** Where an item of a folder is, wherever that was moved. */
export interface KnownPlace {
	folderId: string;
	ownerId: string;
	/** Relative to the folder. */
	inside: StoragePath;
}

/** What a member uses for a while: something in a folder, wherever that is moved. */
export interface Held extends KnownPlace {
	user: { id: string };
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

/** What a member may do with what is held. Throws `notFound` for who may do nothing. */
type Round = (held: Held) => Promise<{ role: MemberRole }>;

/** What members have under way in this process, which ends with their role, whoever takes it and in whatever process. */
export class HeldAccess {
	readonly #beginRound: () => Round;
	readonly #held = new Map<Held, Listener>();
	#timer: NodeJS.Timeout | undefined;
	#isChecking = false;

	/** All that is asked in one round is answered as of the same moment. */
	constructor(beginRound: () => Round) {
		this.#beginRound = beginRound;
	}

	/**
	 * `onLost` is called once the role is lost, and `onRole` each time that it is another one than it was, until the
	 * returned function is called.
	 */
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
		const round = this.#beginRound();
		for (const [held, listener] of [...this.#held]) {
			const role = await roleOf(held, round);
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
}

/** Undefined where it is not known: an outage ends nothing. */
async function roleOf(held: Held, round: Round): Promise<MemberRole | 'none' | undefined> {
	try {
		return (await round(held)).role;
	} catch (error) {
		return isFailure(error, 'notFound') ? 'none' : undefined;
	}
}
