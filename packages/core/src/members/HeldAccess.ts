import { Yielder } from '@stowage/plugin-api';
import { addTo, isFailure, type MemberRole, PathMap, type StoragePath } from '@stowage/rules';
import { BoundedDisks } from '../limits/BoundedDisks.js';
import { once } from './once.js';

/** How often it is checked whether members still have what they use. */
const pollMs = 500;

/** How long a disk may take for where one item is: then it is not known. */
const diskMs = 5_000;

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

/** What is asked at one check, as of the same moment. */
interface Round {
	/** What the rows alone say: the most that the member may do with what is held. Throws `notFound` for who is no member any more. */
	atMost(held: Held): Promise<MemberRole>;
	/** The root that the home lies on, by its name. */
	rootOf(held: Held): Promise<string>;
	/** Where what is held is by rows and disk, and what the member may do with it. Throws `notFound` for who may do nothing. */
	locate(held: Held): Promise<{ role: MemberRole; path: StoragePath }>;
}

/** What was asked at a check. Undefined where it is not known: an outage ends nothing. */
type Known<T> = Promise<T | 'none' | undefined>;

/** What members have under way in this process, which ends with their role, whoever takes it and in whatever process. */
export class HeldAccess {
	readonly #beginRound: () => Round;
	readonly #held = new Map<Held, Listener>();
	#timer: NodeJS.Timeout | undefined;
	#isChecking = false;
	readonly #disks = new BoundedDisks(diskMs);
	/** The roots that are being asked. */
	readonly #asked = new Set<string>();

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

	/** The rows of all are asked first, since a membership that has ended needs no disk; then each root on its own. */
	async #checkAll(): Promise<void> {
		const round = this.#beginRound();
		const roles = new Map<string, Known<MemberRole>>();
		const roots = new Map<string, Known<string>>();
		const yielder = new Yielder();
		// What begins later may be of a membership that these rows don't have yet.
		const all = [...this.#held.keys()];
		for (const held of all) {
			// What is known of the folders is awaited at once, and gives nobody else a turn.
			if (yielder.shouldYield) await yielder.yield();
			const role = await once(roles, folderKey(held), () => known(round.atMost(held)));
			if (role !== undefined) this.#endIfLess(held, role);
		}
		const onRoots = new Map<string, Held[]>();
		for (const held of all) {
			if (yielder.shouldYield) await yielder.yield();
			if (!this.#held.has(held)) continue;
			const root = await once(roots, folderKey(held), () => known(round.rootOf(held)));
			if (root !== undefined) addTo(onRoots, root, held);
		}
		for (const [root, some] of onRoots) if (!this.#asked.has(root)) void this.#checkOn(root, some, round);
	}

	async #checkOn(root: string, all: readonly Held[], round: Round): Promise<void> {
		this.#asked.add(root);
		try {
			const places = new PathMap<Known<Awaited<ReturnType<Round['locate']>>>>();
			const yielder = new Yielder();
			for (const held of all) {
				if (yielder.shouldYield) await yielder.yield();
				if (!this.#held.has(held)) continue;
				// Hundreds may watch one folder, or read one file.
				const found = await once(places, `${folderKey(held)} ${held.inside}`, () =>
					known(this.#disks.ask(root, () => round.locate(held))),
				);
				if (found === undefined) continue;
				const role = found === 'none' ? found : found.role;
				if (!this.#endIfLess(held, role) && found !== 'none') this.#notify(held, found);
			}
		} finally {
			this.#asked.delete(root);
		}
	}

	/** Ends what is held where that role is less than it needs. Returns whether it has ended. */
	#endIfLess(held: Held, role: MemberRole | 'none'): boolean {
		if (role !== 'none' && (held.role === 'view' || role === 'edit')) return false;
		const listener = this.#held.get(held);
		this.#held.delete(held);
		listener?.onLost();
		return true;
	}

	#notify(held: Held, { role, path }: { role: MemberRole; path: StoragePath }): void {
		const listener = this.#held.get(held);
		if (listener === undefined) return;
		const { watched, seen } = listener;
		listener.seen = role;
		if (seen !== undefined && seen !== role) watched?.onRole();
		watched?.onPlace(path);
	}
}

/** What is held by one member in one folder has the same. */
const folderKey = ({ user, ownerId, folderId }: Held) => `${user.id} ${ownerId} ${folderId}`;

async function known<T>(asked: Promise<T>): Known<T> {
	try {
		return await asked;
	} catch (error) {
		return isFailure(error, 'notFound') ? 'none' : undefined;
	}
}
