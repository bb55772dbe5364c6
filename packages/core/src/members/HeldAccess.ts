import { Yielder } from '@stowage/plugin-api';
import { isFailure, type MemberRole, PathMap, type StoragePath } from '@stowage/rules';
import { once } from './once.js';

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

/** What something on screen depends on. */
interface Watched {
	role: MemberRole;
	/** Called once the role is another one. */
	onRole: () => void;
	/** Called at each check with where the item is now, relative to the home of its owner. */
	onPlace: (path: StoragePath) => void;
}

interface Listener {
	onLost: () => void;
	watched: Watched | undefined;
	/** The role at the last check. */
	seen: MemberRole | undefined;
}

/** Where what is held is, and what the member may do with it. Throws `notFound` for who may do nothing. */
type Round = (held: Held) => Promise<{ role: MemberRole; path: StoragePath }>;

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
	 * `onLost` is called once the role is lost, and what is `watched` says of its calls, until the returned function is
	 * called.
	 */
	hold(held: Held, onLost: () => void, watched?: Watched): () => void {
		const own = { ...held };
		this.#held.set(own, { onLost, watched, seen: watched?.role });
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
		const places = new PathMap<ReturnType<typeof look>>();
		const yielder = new Yielder();
		for (const [held, listener] of [...this.#held]) {
			// What is known of the folders is awaited at once, and gives nobody else a turn.
			if (yielder.shouldYield) await yielder.yield();
			if (!this.#held.has(held)) continue;
			// Hundreds may watch one folder, or read one file.
			const { user, ownerId, folderId, inside } = held;
			const found = await once(places, `${user.id} ${ownerId} ${folderId} ${inside}`, () => look(held, round));
			if (found === undefined || !this.#held.has(held)) continue;
			if (found === 'none' || (held.role === 'edit' && found.role === 'view')) {
				this.#held.delete(held);
				listener.onLost();
			} else {
				const { watched, seen } = listener;
				listener.seen = found.role;
				if (seen !== undefined && seen !== found.role) watched?.onRole();
				watched?.onPlace(found.path);
			}
		}
	}
}

/** Undefined where it is not known: an outage ends nothing. */
async function look(held: Held, round: Round): Promise<Awaited<ReturnType<Round>> | 'none' | undefined> {
	try {
		return await round(held);
	} catch (error) {
		return isFailure(error, 'notFound') ? 'none' : undefined;
	}
}
